// What a page finds whose resources come from a scheme handler, by check.
const OTHER = "https://www.site-d.test";
const element = (tag, set) => new Promise(resolve => {
    const item = document.createElement(tag);
    item.onload = () => resolve(item);
    item.onerror = () => resolve(null);
    set(item);
    document.body.append(item);
});
const loads = async (tag, set) => await element(tag, set) !== null;
const frame = url => new Promise(resolve => {
    window.onmessage = event => resolve(event.data);
    document.body.append(Object.assign(document.createElement("iframe"), {src: url}));
});

const checks = {
    async "image by its property"() { return loads("img", item => item.src = "/set/property.png"); },
    async "image by its attribute"() { return loads("img", item => item.setAttribute("src", "/set/attribute.png")); },
    async "image by srcset"() { return loads("img", item => item.srcset = "/set/a,b.png 1x, /set/double.png 2x"); },
    async "image of another site"() { return loads("img", item => item.src = `${OTHER}/set/other.png`); },
    async "what the page reads of a rewritten image"() {
        const item = await element("img", image => image.src = "/set/read.png");
        return [item.src, item.getAttribute("src"), item.currentSrc];
    },
    async "a canvas stays readable"() {
        const item = await element("img", image => image.src = "/set/canvas.png");
        const canvas = document.createElement("canvas");
        canvas.getContext("2d").drawImage(item, 0, 0);
        try { return canvas.toDataURL().length > 10; } catch (error) { return error.name; }
    },
    async "script"() { return [await loads("script", item => item.src = "/set/script.js"), window.ran]; },
    async "style sheet, and its rules"() {
        const item = await element("link", link => { link.rel = "stylesheet"; link.href = "/set/style.css"; });
        try { return item.sheet.cssRules.length; } catch (error) { return error.name; }
    },
    async "a lazy image of markup"() { return document.querySelector("#lazy").naturalWidth; },
    async "an image by innerHTML"() {
        const item = document.createElement("div");
        item.innerHTML = "<img src=/markup/inner.png>";
        document.body.append(item);
        await new Promise(resolve => setTimeout(resolve, 500));
        return item.firstChild.naturalWidth;
    },
    async "fetch"() {
        const response = await fetch("/set/fetch?q=%20", {headers: {"X-Custom": "1"}});
        return [response.status, response.url, response.headers.get("X-One"), await response.text()];
    },
    async "fetch of a missing resource"() { return (await fetch("/set/missing")).status; },
    async "fetch, aborted"() {
        const controller = new AbortController(), sent = fetch("/set/slow", {signal: controller.signal});
        controller.abort();
        return sent.catch(error => error.name);
    },
    async "fetch of another site"() { return (await fetch(`${OTHER}/engine/cross`)).text(); },
    async "a posted body"() { return (await fetch("/engine/post", {method: "POST", body: "posted"})).text(); },
    async "XMLHttpRequest"() {
        return new Promise(resolve => {
            const request = new XMLHttpRequest();
            request.open("GET", "/set/xhr");
            request.onloadend = () => resolve([request.status, request.responseURL, request.responseText]);
            request.send();
        });
    },
    async "import()"() { return (await import("/engine/module.mjs")).default; },
    async "a module that a script inserts"() {
        const isLoaded = await loads("script", item => { item.type = "module"; item.src = "/module/entry.mjs"; });
        // An engine tells that it is loaded before it has imported what it awaits.
        await new Promise(resolve => setTimeout(resolve, 500));
        return [isLoaded, window.entry];
    },
    async "a worker"() {
        const worker = new Worker("/engine/worker.js");
        return new Promise(resolve => worker.onmessage = event => resolve(event.data));
    },
    async "cookies of a response"() { return document.cookie.includes("through=handler"); },
    async "a frame of another origin"() { return frame(`${OTHER}/frame`); },
    async "a frame that knows the scheme"() { return frame(`${OTHER}/frame?scheme=${window.scheme}`); },
};
(async () => {
    const found = {};
    for (const [name, check] of Object.entries(checks)) {
        try { found[name] = await Promise.race([check(), new Promise(resolve => setTimeout(resolve, 5000, "timeout"))]); }
        catch (error) { found[name] = String(error); }
    }
    window.found = found;
})();
