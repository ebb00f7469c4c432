(function () {
  "use strict";
  //{parameters}
  // Whatever is called later is taken now: a page may replace it, and must not notice.
  var apply = Reflect.apply, describe = Object.getOwnPropertyDescriptor, define = Object.defineProperty;
  var quote = JSON.stringify, then = Promise.prototype.then, listen = EventTarget.prototype.addEventListener;
  var look = WeakMap.prototype.get, keep = WeakMap.prototype.set, Address = window.URL;
  var originals = new WeakMap(), requests = new WeakMap(), probe = "crumb capture " + handler;
  var getters = {
    __proto__: null, url: getter("Response", "url"), status: getter("Response", "status"),
    redirected: getter("Response", "redirected"), method: getter("Request", "method"),
    ajaxStatus: getter("XMLHttpRequest", "status"), ajaxURL: getter("XMLHttpRequest", "responseURL")
  };
  var isWeb = location.protocol === "https:" || location.protocol === "http:";
  var lineLimit = 16384, itemLimit = 64;

  var post = poster();
  if (post === null || isInstalled()) return;
  replace(Function.prototype, "toString", "value", sourceText);
  replace(Document.prototype, "cookie", "set", cookieSet);
  replace(window, "fetch", "value", fetched);
  if (typeof XMLHttpRequest === "function") replace(XMLHttpRequest.prototype, "open", "value", opened);
  if (typeof cookieStore === "object" && cookieStore !== null) {
    try {
      apply(listen, cookieStore, ["change", changed]);
    } catch (error) {}
  }
  return;

  // MARK: Standing in for the engine's functions

  // A stand-in is a proxy, so that name, length, properties and `new` are the engine's; its source text would lack
  // the name, so that is asked of the original.
  function replace(owner, name, part, call) {
    try {
      var old = describe(owner, name);
      if (!old || !old.configurable || typeof old[part] !== "function") return;
      var stand = new Proxy(old[part], { __proto__: null, apply: call });
      apply(keep, originals, [stand, old[part]]);
      var next = { __proto__: null, enumerable: old.enumerable, configurable: true };
      if (part === "value") {
        next.value = stand;
        next.writable = old.writable;
      } else {
        next.get = old.get;
        next.set = stand;
      }
      define(owner, name, next);
    } catch (error) {}
  }

  function sourceText(target, self, values) {
    if (self === probe) return probe;
    var original = typeof self === "function" ? apply(look, originals, [self]) : undefined;
    return apply(target, original === undefined ? self : original, values);
  }

  function getter(type, name) {
    try {
      return describe(window[type].prototype, name).get;
    } catch (error) {
      return undefined;
    }
  }

  // The engine's own toString refuses a text; that of an earlier run gives it back. Nothing is left behind to see.
  function isInstalled() {
    try {
      return apply(Function.prototype.toString, probe, []) === probe;
    } catch (error) {
      return false;
    }
  }

  // MARK: Cookies

  // Only a text can be told without asking a page's object a second time, and only of this document is it known
  // where it applies.
  function cookieSet(target, self, values) {
    var result = apply(target, self, values);
    var line = values[0];
    if (isWeb && self === document && typeof line === "string" && line.length <= lineLimit) {
      tell("cookie", ',"line":' + quote(line));
    } else {
      tell("touched", "");
    }
    return result;
  }

  function changed(event) {
    try {
      var set = event.changed, gone = event.deleted;
      if (!isWeb || set.length + gone.length > itemLimit) return tell("touched", "");
      tell("change", ',"changed":' + items(set) + ',"deleted":' + items(gone));
    } catch (error) {
      tell("touched", "");
    }
  }

  function items(list) {
    var text = "[";
    for (var index = 0; index < list.length; index++) {
      var item = list[index];
      text += (index > 0 ? "," : "") + '{"name":' + quote("" + item.name);
      text += texts("value", item.value) + texts("domain", item.domain) + texts("path", item.path);
      text += texts("sameSite", item.sameSite);
      if (typeof item.expires === "number" && item.expires - item.expires === 0) text += ',"expires":' + item.expires;
      if (typeof item.secure === "boolean") text += ',"secure":' + item.secure;
      if (typeof item.partitioned === "boolean") text += ',"partitioned":' + item.partitioned;
      text += "}";
    }
    return text + "]";
  }

  function texts(name, value) {
    return typeof value === "string" ? ',"' + name + '":' + quote(value) : "";
  }

  // MARK: Responses

  // The page gets the next link of the chain, not the engine's promise with another link beside it: a rejection that
  // the page does not handle stays unhandled.
  function fetched(target, self, values) {
    var promise = apply(target, self, values);
    var method = "GET";
    try {
      method = apply(getters.method, values[0], []);
    } catch (error) {}
    try {
      var own = values.length > 1 ? describe(values[1], "method") : undefined;
      if (own && typeof own.value === "string") method = own.value;
    } catch (error) {}
    try {
      return apply(then, promise, [
        function (response) {
          try {
            answered(
              "fetch", apply(getters.url, response, []), method, apply(getters.status, response, []),
              apply(getters.redirected, response, []));
          } catch (error) {}
          return response;
        }
      ]);
    } catch (error) {
      return promise;
    }
  }

  function opened(target, self, values) {
    var result = apply(target, self, values);
    try {
      var address = null;
      try {
        if (typeof values[1] === "string") address = withoutFragment(new Address(values[1], document.baseURI).href);
      } catch (error) {}
      apply(keep, requests, [
        self, { __proto__: null, method: typeof values[0] === "string" ? values[0] : "GET", address: address }
      ]);
      // One listener, however often a request is opened.
      apply(listen, self, ["loadend", ended]);
    } catch (error) {}
    return result;
  }

  function ended() {
    try {
      var request = apply(look, requests, [this]), status = apply(getters.ajaxStatus, this, []);
      if (request === undefined || status === 0) return;
      var address = withoutFragment(apply(getters.ajaxURL, this, []));
      answered("xhr", address, request.method, status, request.address !== null && request.address !== address);
    } catch (error) {}
  }

  function answered(through, address, method, status, redirected) {
    tell(
      "response",
      ',"through":"' + through + '","response":' + (address === "" ? "null" : quote(address)) + ',"method":'
        + quote(method) + ',"status":' + status + ',"redirected":' + (redirected === true));
  }

  function withoutFragment(address) {
    var text = "";
    for (var index = 0; index < address.length && address[index] !== "#"; index++) text += address[index];
    return text;
  }

  // MARK: Telling

  // Never through an object: a page can give every object a toJSON.
  function tell(kind, fields) {
    post('{"crumb":"capture","kind":"' + kind + '","url":' + quote(place()) + fields + "}");
  }

  // Neither query nor fragment: cookie rules read neither, and both may hold secrets.
  function place() {
    return isWeb ? location.protocol + "//" + location.host + location.pathname : location.protocol;
  }

  function poster() {
    var owner, send;
    try {
      owner = window.webkit.messageHandlers[handler];
      send = owner.postMessage;
    } catch (error) {
      owner = window;
      send = window[handler];
    }
    if (typeof send !== "function") return null;
    return function (text) {
      try {
        apply(send, owner, [text]);
      } catch (error) {}
    };
  }
})();
