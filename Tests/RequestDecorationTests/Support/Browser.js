// A browser as far as scripts that handle cookies can tell, in node: a cookie store, tabs with session storage, and
// documents, each a global scope of its own with what the Web's standards put there. Reads steps, answers with what
// happened at each.
const vm = require("vm");

const trim = (text) => text.replace(/^[ \t]+|[ \t]+$/g, "");
// As in Chromium and Firefox; WebKit does not trust loopback.
const isSecure = (url) => url.protocol === "https:" || /^(localhost|127\..*|\[::1\])$/.test(url.hostname);

class Store {
  constructor() { this.cookies = []; this.sequence = 0; }

  static defaultPath(path) { const slash = path.lastIndexOf("/"); return slash <= 0 ? "/" : path.slice(0, slash); }

  set(line, url, now, http) {
    const [pair, ...attributes] = line.split(";");
    const equals = pair.indexOf("=");
    const cookie = {
      name: equals < 0 ? "" : trim(pair.slice(0, equals)), value: trim(pair.slice(equals + 1)),
      path: Store.defaultPath(url.pathname), domain: url.hostname, hostOnly: true, expires: Infinity
    };
    let maxAge = null;
    for (const attribute of attributes) {
      const [key, ...rest] = attribute.split("="), value = trim(rest.join("="));
      switch (key.trim().toLowerCase()) {
        case "path": if (value.startsWith("/")) cookie.path = value; break;
        case "domain": cookie.domain = value.replace(/^\./, "").toLowerCase(); cookie.hostOnly = false; break;
        case "expires": if (maxAge === null) cookie.expires = Date.parse(value); break;
        case "max-age": maxAge = Number(value); cookie.expires = maxAge <= 0 ? -Infinity : now + maxAge * 1000; break;
        case "secure": cookie.secure = true; break;
        case "httponly": cookie.httpOnly = true; break;
        case "partitioned": cookie.partitioned = true; break;
      }
    }
    if (!cookie.hostOnly && url.hostname !== cookie.domain && !url.hostname.endsWith("." + cookie.domain)) return;
    if (cookie.secure && !isSecure(url)) return;
    if (cookie.httpOnly && !http) return;
    const same = (other) => ["name", "domain", "hostOnly", "path", "partitioned"].every((key) => other[key] === cookie[key]);
    const old = this.cookies.find(same);
    if (old && old.httpOnly && !http) return;
    cookie.sequence = old ? old.sequence : this.sequence++;
    this.cookies = this.cookies.filter((other) => !same(other));
    if (cookie.expires > now) this.cookies.push(cookie);
  }

  visible(url, now) {
    return this.cookies.filter((cookie) =>
      cookie.expires > now && !cookie.httpOnly && (!cookie.secure || isSecure(url))
      && (url.hostname === cookie.domain || (!cookie.hostOnly && url.hostname.endsWith("." + cookie.domain)))
      && (url.pathname === cookie.path || (url.pathname.startsWith(cookie.path)
        && (cookie.path.endsWith("/") || url.pathname[cookie.path.length] === "/"))))
      .sort((a, b) => b.path.length - a.path.length || a.sequence - b.sequence)
      .map((cookie) => (cookie.name === "" ? cookie.value : cookie.name + "=" + cookie.value)).join("; ");
  }
}

// Runs within each document's global scope.
function prepare(host) {
  "use strict";
  const { browser, url, step, log } = host;
  const define = Object.defineProperty, unforgeable = (owner, name, get) =>
    define(owner, name, { get, enumerable: true, configurable: false });
  class EventTarget {
    addEventListener(type, listener) {
      const list = (this.listeners ??= {})[type] ??= [];
      if (!list.includes(listener)) list.push(listener);
    }
    dispatch(type, event) { for (const listener of (this.listeners ?? {})[type] ?? []) listener.call(this, event); }
  }
  class Document extends EventTarget {}
  const document = new Document();
  define(document, "baseURI", { value: url.href });
  define(Document.prototype, "cookie", {
    get() {
      if (!(this instanceof Document)) throw new TypeError("Illegal invocation");
      if (step.sandboxed) throw new Error("SecurityError");
      return host.isWeb ? browser.store.visible(url, browser.now) : "";
    },
    set(line) {
      if (!(this instanceof Document)) throw new TypeError("Illegal invocation");
      line = `${line}`;
      if (step.sandboxed) throw new Error("SecurityError");
      log.sets.push(line);
      if (step.mangles) line = line.replace(/^([^;]*?)[^\0-\x7F][^;]*/, "$1");
      if (host.isWeb && !step.refuses) browser.store.set(line, url, browser.now, false);
    },
    enumerable: true, configurable: true
  });
  const location = {};
  for (const part of ["protocol", "hostname", "host", "pathname", "href", "search", "hash", "origin", "port"]) {
    unforgeable(location, part, () => url[part]);
  }
  if (step.ancestors) unforgeable(location, "ancestorOrigins", () => step.ancestors);
  const top = step.ancestors && step.ancestors.length > 0 ? {} : globalThis;
  for (const [name, value] of Object.entries({ window: globalThis, document, location, top })) {
    if (step.bare && name !== "window") continue;
    unforgeable(globalThis, name, () => value);
  }
  const RealDate = Date;
  globalThis.Date = class extends RealDate { static now() { return browser.now; } };
  const areas = new Map();
  class Storage {
    getItem(key) { return browser[areas.get(this)][url.origin]?.[key] ?? null; }
    setItem(key, value) {
      if (`${value}`.length > (step.quota ?? Infinity)) throw new Error("QuotaExceededError");
      (browser[areas.get(this)][url.origin] ??= {})[key] = `${value}`;
    }
    removeItem(key) { delete browser[areas.get(this)][url.origin]?.[key]; }
  }
  for (const [name, area] of [["sessionStorage", "items"], ["localStorage", "local"]]) {
    const storage = new Storage();
    areas.set(storage, area);
    define(globalThis, name, {
      get() { if (step.withoutStorage) throw new Error("SecurityError"); return storage; },
      enumerable: true, configurable: true
    });
  }
  globalThis.EventTarget = EventTarget;
  globalThis.Document = Document;
  globalThis.URL = class { constructor(text, base) { this.href = host.resolve(`${text}`, `${base}`); } };
  class Response {
    #answer;
    constructor(answer) { this.#answer = answer; }
    get url() { return this.#answer.url; }
    get status() { return this.#answer.status; }
    get redirected() { return this.#answer.redirected ?? false; }
  }
  class Request { #method; constructor(url, init) { this.url = url; this.#method = init?.method ?? "GET"; }
    get method() { return this.#method; } }
  globalThis.Response = Response;
  globalThis.Request = Request;
  globalThis.fetch = function fetch(input) {
    if (this !== undefined && this !== globalThis) return Promise.reject(new TypeError("Illegal invocation"));
    if (arguments.length === 0) return Promise.reject(new TypeError("1 argument required, but only 0 present."));
    log.fetches.push([...arguments].length);
    const answer = host.answers[typeof input === "string" ? input : input.url];
    return answer ? Promise.resolve(new Response(answer)) : Promise.reject(new TypeError("Failed to fetch"));
  };
  globalThis.XMLHttpRequest = class XMLHttpRequest extends EventTarget {
    #answer = { url: "", status: 0 };
    open(method, address) {
      if (arguments.length < 2) throw new TypeError("2 arguments required");
      this.opened = [method, `${address}`];
    }
    send() {
      this.#answer = host.answers[this.opened[1]] ?? this.#answer;
      this.dispatch("loadend", {});
    }
    get status() { return this.#answer.status; }
    get responseURL() { return this.#answer.url; }
  };
  if (step.handler) {
    class Handler { postMessage(text) { if (typeof text !== "string") throw new TypeError(); log.messages.push(text); } }
    globalThis.webkit = { messageHandlers: { [step.handler]: new Handler() } };
  }
  if (step.binding) globalThis[step.binding] = function (text) { log.messages.push(text); };
  if (step.cookieStore) {
    globalThis.cookieStore = new EventTarget();
    globalThis.dispatchChange = (event) => EventTarget.prototype.dispatch.call(cookieStore, "change", event);
  }
}

const pause = () => new Promise((done) => setImmediate(() => setImmediate(done)));

async function run(steps) {
  const browser = { store: new Store(), items: {}, local: {}, now: 1800000000250 };
  let context = null, log = null;
  const results = [];
  for (const step of steps) {
    const result = { value: null, error: null };
    if (step.open !== undefined) {
      const url = new URL(step.open === "bare" ? "https://bare.test/" : step.open);
      log = { sets: [], messages: [], fetches: [] };
      context = vm.createContext({});
      const host = {
        browser, url, step, log, isWeb: /^https?:$/.test(url.protocol), answers: step.answers ?? {},
        resolve: (text, base) => new URL(text, base).href
      };
      vm.runInContext(`(${prepare})`, context)(host);
      context.bare = undefined;
    }
    if (step.now !== undefined) browser.now = step.now;
    if (step.newTab) browser.items = {};
    if (step.http !== undefined) browser.store.set(step.http, new URL(step.from), browser.now, true);
    if (step.script !== undefined) {
      const before = log.sets.length, messages = log.messages.length;
      const rejections = [];
      const onRejection = (reason) => rejections.push(String(reason));
      process.on("unhandledRejection", onRejection);
      try {
        let value = vm.runInContext(step.script, context, { timeout: 20000, filename: "step.js" });
        if (value !== null && typeof value === "object" && typeof value.then === "function") value = await value;
        if (value !== undefined) result.value = typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
      } catch (error) { result.error = String(error); }
      await pause();
      process.off("unhandledRejection", onRejection);
      result.rejections = rejections;
      result.sets = log.sets.slice(before);
      result.messages = log.messages.slice(messages);
    }
    results.push(result);
  }
  return results;
}

(async () => {
  const runs = JSON.parse(require("fs").readFileSync(0, "utf8"));
  const answers = [];
  for (const steps of runs) answers.push(await run(steps));
  process.stdout.write(JSON.stringify(answers));
})();
