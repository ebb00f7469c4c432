// What a script finds, by check. The page runs with and without the gateway, and has to find the same. What it does not
// look at differs where a server speaks HTTP/1.1 and the gateway HTTP/2: reason phrases, and fields of one connection.
const ignored = /^(connection|cache-control|x-firefox-)/;
const API = "https://api.site-c.test", OTHER = "https://www.site-d.test", SHOP = "https://www.site-c.test";
const include = {credentials: "include"};
const text = async (url, options) => (await fetch(url, options)).text();
const sent = (origin = "") => text(`${origin}/cookies`, include);
// WebKitGTK tells a page of a changed cookie beside the response that changed it. So another response comes first.
const set = async (lines, origin = "") => {
    await text(`${origin}/set?${lines.map(line => "c=" + encodeURIComponent(line)).join("&")}`, include);
    await sent(origin);
};
// The cookies of these names, in no order: it may differ. So one check's cookies do not change what others find.
const only = (names, cookies) => cookies.split("; ").filter(pair => names.includes(pair.split("=")[0])).sort().join("; ");
const both = async (...names) =>
    [only(names, document.cookie), only(names, await sent()), only(names, document.cookie)];
const redirected = async (status, method, to = "/request") => {
    const body = method === "POST" ? "body" : undefined;
    const response = await fetch(`/to?status=${status}&to=${encodeURIComponent(to)}`, {method, body, credentials: "include"});
    return [response.status, response.redirected, response.url, response.type, await response.text()];
};
const xhr = (method, url, settings = {}) => new Promise(resolve => {
    const request = new XMLHttpRequest(), events = [];
    for (const name of ["loadstart", "load", "error", "abort", "timeout", "loadend"])
        request.addEventListener(name, () => events.push(name));
    request.open(method, url);
    Object.assign(request, settings);
    request.onloadend = () => resolve([
        request.status, request.responseURL, request.response,
        request.getAllResponseHeaders().split("\r\n").filter(line => !ignored.test(line)).sort(),
        events.join(" ")]);
    request.send(method === "POST" ? "posted" : null);
});
const frame = (url, settings = {}) => new Promise(resolve => {
    const element = Object.assign(document.createElement("iframe"), {src: url, ...settings});
    element.onload = () => resolve(element.contentWindow);
    document.body.append(element);
});

const checks = {
    async "a server's cookie"() { await set(["a=1"]); return both("a"); },
    async "a server's new value"() { await set(["a=2"]); return both("a"); },
    async "a script's new value"() { document.cookie = "a=3"; return both("a"); },
    async "a server's value after a script's"() { await set(["a=4"]); return both("a"); },
    async "a script's cookie"() { document.cookie = "b=1; Secure; SameSite=Strict"; return both("b"); },
    async "a script deletes"() { document.cookie = "a=; Max-Age=0"; return both("a", "b"); },
    async "a server deletes a script's"() { await set(["b=; Max-Age=0"]); return both("b"); },
    async "HttpOnly"() { await set(["c=1; HttpOnly", "d=1"]); return both("c", "d"); },
    async "HttpOnly, new value"() { await set(["c=2; HttpOnly"]); return both("c"); },
    async "HttpOnly no more"() { await set(["c=3"]); return both("c"); },
    async "HttpOnly, of a script"() { document.cookie = "e=1; HttpOnly"; return both("e"); },
    async "several of a name, by path"() { await set(["f=1; Path=/", "f=2; Path=/cookies"]); return both("f"); },
    async "a path elsewhere"() { await set(["g=1; Path=/elsewhere"]); return both("g"); },
    async "of the site"() {
        await set(["h=1; Domain=site-c.test"]);
        return [...await both("h"), only(["h"], await sent(API))];
    },
    async "of a foreign domain"() { await set(["i=1; Domain=site-d.test", "i=2; Domain=test"]); return both("i"); },
    async "prefixes"() {
        await set(["__Host-a=1; Secure; Path=/", "__Host-b=1; Secure; Path=/; Domain=site-c.test", "__Secure-c=1; Secure",
            "__Host-d=1; Secure; Path=/; HttpOnly"]);
        return both("__Host-a", "__Host-b", "__Secure-c", "__Host-d");
    },
    async "odd lines"() {
        await set(["j=", "k=\"quoted\"", "l=a=b", "m=1; Max-Age=x", "n=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            "o=1; SameSite=x", "p", "q=1; Secure; SameSite=None"]);
        return both("j", "k", "l", "m", "n", "o", "p", "q");
    },
    async "of another host of the site"() {
        await set(["r=1", "r=2; Domain=site-c.test"], API);
        return [...await both("r"), only(["r"], await sent(API))];
    },
    async "of another site"() {
        await set(["s=1; Secure; SameSite=None", "t=1; SameSite=Lax; HttpOnly", "u=1; Secure; SameSite=Strict"], OTHER);
        return [...await both("s", "t", "u"), only(["s", "t", "u"], await sent(OTHER))];
    },
    async "no credentials"() { return [await text("/cookies", {credentials: "omit"}), await text(`${API}/cookies`)]; },
    async "the cookie store"() {
        if (!window.cookieStore) return "none";
        await cookieStore.set("v", "1");
        const names = (await cookieStore.getAll()).map(cookie => cookie.name).sort();
        const one = await cookieStore.get("v"), arrived = only(["v"], await sent());
        await cookieStore.delete("v");
        return [names, one, arrived, await cookieStore.get("v"), ...await both("v")];
    },
    async "changes of the cookie store"() {
        if (!window.cookieStore) return "none";
        const events = [];
        const note = event => events.push(...event.changed.map(({name, value}) => `${name}=${value}`),
            ...event.deleted.map(({name}) => `${name} deleted`));
        cookieStore.addEventListener("change", note);
        await set(["w=1", "hidden=1; HttpOnly"]);
        await cookieStore.set("w", "2");
        await set(["w=; Max-Age=0", "hidden=; Max-Age=0; HttpOnly"]);
        await new Promise(resolve => setTimeout(resolve, 200));
        cookieStore.removeEventListener("change", note);
        return events;
    },
    async "fields of a response"() {
        const response = await fetch("/fields");
        return [response.status, response.type,
            [...response.headers].filter(([name]) => name.startsWith("x-") && !ignored.test(name) || name === "set-cookie")];
    },
    async "fields of another site"() {
        const response = await fetch(`${OTHER}/fields`);
        return [response.type, [...response.headers]];
    },
    async "not shared"() { return text(`${OTHER}/plain`); },
    async "opaque"() {
        const response = await fetch(`${OTHER}/plain`, {mode: "no-cors"});
        return [response.type, response.status];
    },
    async "a preflight"() {
        return text(`${OTHER}/request`, {method: "PUT", body: "x", headers: {"X-Custom": "1"}, ...include});
    },
    async "a refused preflight"() { return text(`${OTHER}/request`, {method: "PATCH", ...include}); },
    async "a request"() { return text("/request", {method: "POST", body: "é", headers: {"X-Custom": "1"}}); },
    async "a missing page"() { return (await fetch("/nothing")).status; },
    async "redirects of POST"() {
        return Promise.all([301, 302, 303, 307, 308].map(status => redirected(status, "POST")));
    },
    async "redirects of GET"() { return Promise.all([301, 302, 303, 307, 308].map(status => redirected(status, "GET"))); },
    async "a redirect to another site"() { return redirected(302, "GET", `${OTHER}/request`); },
    async "a redirect that keeps its fragment"() { return redirected(302, "GET", "/request#there"); },
    async "a redirect by hand"() {
        const response = await fetch("/to?status=302&to=/request", {redirect: "manual"});
        return [response.type, response.status, response.url];
    },
    async "no redirect"() { return text("/to?status=302&to=/request", {redirect: "error"}); },
    async "XMLHttpRequest"() { return xhr("GET", "/fields"); },
    async "XMLHttpRequest to another site"() { return xhr("POST", `${OTHER}/request`, {withCredentials: true}); },
    async "XMLHttpRequest, not shared"() { return xhr("GET", `${OTHER}/plain`); },
    async "XMLHttpRequest, synchronous"() {
        const request = new XMLHttpRequest();
        request.open("GET", "/cookies", false);
        request.send();
        return [request.status, request.responseText];
    },
    async "a frame"() { return only(["c", "d"], (await frame("/frame")).document.cookie); },
    async "a worker"() {
        const source = "onmessage = async ({data}) => postMessage(await (await fetch(...data)).text())";
        const worker = new Worker(URL.createObjectURL(new Blob([source])));
        const ask = (...words) => new Promise(resolve => {
            worker.onmessage = event => resolve(event.data);
            worker.postMessage(words);
        });
        const names = ["c", "d", "s", "__Host-d"];
        return [only(names, await ask(`${SHOP}/cookies`)), await ask(`${SHOP}/cookies`, {credentials: "omit"}),
            only(names, await ask(`${OTHER}/cookies`, include))];
    },
};

(async () => {
    const found = {};
    for (const [name, check] of Object.entries(checks)) {
        try {
            found[name] = JSON.stringify(await check());
        } catch (error) {
            found[name] = error.name;
        }
    }
    window.found = found;
})();
