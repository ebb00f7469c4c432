(function () {
  "use strict";
  //{parameters}
  // A frame of another origin must not learn the scheme: nothing before this calls a function that a page may replace.
  if (typeof location === "undefined" || typeof document === "undefined") return;
  if (!isPage(location.protocol, location.host)) return;
  try {
    if (window.top.location.origin !== location.origin) return;
  } catch (error) {
    return;
  }

  var getAttribute = Element.prototype.getAttribute, setAttribute = Element.prototype.setAttribute;
  var removeAttribute = Element.prototype.removeAttribute, apply = Reflect.apply;
  // The attributes of an element that were rewritten: what the page has set, by name.
  var rewritten = new WeakMap();
  // The elements whose URLs have failed with the handler, or with the engine first.
  var failed = new WeakSet();
  // Requests are rewritten once one was answered: the page's policy may forbid them.
  var allowsRequests = false;

  // MARK: URLs

  // The URL in the handler's scheme; null if the engine loads it.
  function mapped(text, sameOriginOnly) {
    var url;
    try {
      url = new URL(text, document.baseURI);
    } catch (error) {
      return null;
    }
    if (url.protocol !== "https:" && (url.protocol !== "http:" || location.protocol === "https:")) return null;
    if (url.username !== "" || url.password !== "") return null;
    if (sameOriginOnly && url.origin !== location.origin) return null;
    return prefix + url.href;
  }

  function plain(text) {
    return typeof text === "string" && text.startsWith(prefix) ? text.slice(prefix.length) : text;
  }

  // The candidates of srcset with their descriptors.
  function mappedCandidates(text) {
    var result = text.replace(/(^|[\s,])([^\s,]\S*[^\s,]|[^\s,])(\s+[^\s,()]+)?(?=\s*(?:,|$))/g,
      function (whole, before, url, descriptor) {
        var to = mapped(url, false);
        return to === null ? whole : before + to + (descriptor || "");
      });
    return result === text ? null : result;
  }

  // Style sheets: a font of another origin needs the Origin field, which the handler does not get.
  function mappedStyle(text) {
    var result = text.replace(/url\(\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|([^"'()\\\s]+))\s*\)/gi,
      function (whole, double, single, bare) {
        var url = double || single || bare || "", to = url === "" || url[0] === "#" ? null : mapped(url, true);
        return to === null ? whole : 'url("' + to.replace(/"/g, "%22") + '")';
      });
    return result === text ? null : result;
  }

  // MARK: Elements

  // What the attribute of an element becomes; null if it stays.
  function replacement(element, name, text) {
    if (text === null || text === "" || text.startsWith(prefix)) return null;
    switch (element.localName + " " + name) {
      case "img src": case "input src": return kinds.images && isSimple(element, text) ? mapped(text, false) : null;
      case "img srcset": case "source srcset":
        return kinds.images && !hasAttribute(element, "crossorigin") ? mappedCandidates(text) : null;
      case "script src":
        if (!(isModule(element) ? kinds.modules : kinds.scripts)) return null;
        return isSimple(element, text) ? mapped(text, isModule(element)) : null;
      case "link href":
        return kinds.styles && /(^|\s)stylesheet(\s|$)/i.test(attribute(element, "rel") || "stylesheet")
          ? mapped(text, true) : null;
      default:
        return name === "style" && kinds.styles && text.indexOf("url(") >= 0 ? mappedStyle(text) : null;
    }
  }

  function isModule(script) {
    return (attribute(script, "type") || "").toLowerCase() === "module";
  }

  // An element with CORS or a digest loads from its own origin only: the handler gets no credentials mode.
  function isSimple(element, text) {
    return mapped(text, true) !== null || !hasAttribute(element, "crossorigin") && !hasAttribute(element, "integrity");
  }

  function attribute(element, name) {
    return apply(getAttribute, element, [name]);
  }

  function hasAttribute(element, name) {
    return attribute(element, name) !== null;
  }

  // Sets an attribute as the page wants it.
  function assign(element, name, text) {
    var to = replacement(element, name, text), known = rewritten.get(element);
    if (known) delete known[name];
    if (to === null) return apply(setAttribute, element, [name, text]);
    if (!known) rewritten.set(element, known = Object.create(null));
    known[name] = text;
    // To the engine, the handler is another origin: without CORS, a canvas is tainted and rules of style sheets are hidden.
    if ((name === "src" || name === "href") && mapped(text, true) !== null && !hasAttribute(element, "crossorigin")) {
      apply(setAttribute, element, ["crossorigin", "anonymous"]);
    }
    apply(setAttribute, element, [name, to]);
  }

  // Rewrites what the engine has made of markup, as far as it has not requested it yet.
  function visit(element) {
    if (element.localName === "img" && attribute(element, "loading") === "lazy") rewrite(element);
    if (hasAttribute(element, "style")) visitStyle(element);
    if (element.localName === "style" && kinds.styles && element.textContent.indexOf("url(") >= 0) {
      var style = mappedStyle(element.textContent);
      if (style !== null) element.textContent = style;
    }
  }

  // Rewrites the URLs of an element; whether it has some.
  function rewrite(element) {
    var names = { img: ["srcset", "src"], source: ["srcset"], input: ["src"], link: ["href"] }[element.localName] || [];
    var isRewritten = false;
    for (var index = 0; index < names.length; index++) {
      var text = attribute(element, names[index]);
      if (replacement(element, names[index], text) === null) continue;
      // Or it would be requested once more when crossorigin is set.
      apply(removeAttribute, element, [names[index]]);
      assign(element, names[index], text);
      isRewritten = true;
    }
    return isRewritten;
  }

  function visitStyle(element) {
    var text = attribute(element, "style"), to = replacement(element, "style", text);
    if (to !== null) apply(setAttribute, element, ["style", to]);
  }

  new MutationObserver(function (records) {
    for (var record of records) {
      if (record.type === "attributes") visitStyle(record.target);
      for (var node of record.addedNodes) {
        if (node.nodeType === 3 && node.parentNode && node.parentNode.localName === "style") visit(node.parentNode);
        if (node.nodeType !== 1) continue;
        visit(node);
        for (var element of node.querySelectorAll("img[loading], style, [style]")) visit(element);
      }
    }
  }).observe(document, { childList: true, subtree: true, attributeFilter: kinds.styles ? ["style"] : [] });

  // MARK: What scripts set

  function patch(type, property, name) {
    var descriptor = type && Object.getOwnPropertyDescriptor(type.prototype, property);
    if (!descriptor || !descriptor.set) return;
    Object.defineProperty(type.prototype, property, {
      get: function () {
        var text = apply(descriptor.get, this, []);
        return property === "srcset" ? apply(Element.prototype.getAttribute, this, [name]) || "" : plain(text);
      },
      // An object may be one that a policy of the page has approved.
      set: function (value) {
        if (typeof value === "object") apply(descriptor.set, this, [value]);
        else assign(this, name, String(value));
      },
      configurable: true, enumerable: true
    });
  }

  function patchGetter(type, property, change) {
    var descriptor = type && Object.getOwnPropertyDescriptor(type.prototype, property);
    if (!descriptor || !descriptor.get) return;
    Object.defineProperty(type.prototype, property, {
      get: function () { return change(apply(descriptor.get, this, []), this); },
      set: descriptor.set, configurable: true, enumerable: true
    });
  }

  patch(window.HTMLImageElement, "src", "src");
  patch(window.HTMLImageElement, "srcset", "srcset");
  patch(window.HTMLSourceElement, "srcset", "srcset");
  patch(window.HTMLScriptElement, "src", "src");
  patch(window.HTMLLinkElement, "href", "href");
  patchGetter(window.HTMLImageElement, "currentSrc", plain);
  Element.prototype.setAttribute = function setAttribute(name, value) {
    var lower = String(name).toLowerCase();
    if (typeof value === "object" || !/^(src|srcset|href)$/.test(lower)) {
      return apply(nativeSetAttribute, this, arguments);
    }
    assign(this, lower, String(value));
  };
  Element.prototype.getAttribute = function getAttribute(name) {
    var known = rewritten.get(this), lower = known && String(name).toLowerCase();
    return known && lower in known ? known[lower] : apply(nativeGetAttribute, this, arguments);
  };
  var nativeSetAttribute = setAttribute, nativeGetAttribute = getAttribute;

  // MARK: Requests

  var nativeFetch = window.fetch, open = XMLHttpRequest.prototype.open;

  // The request through the handler; null if the engine sends it.
  function request(input, init) {
    if (!kinds.requests || !allowsRequests) return null;
    // A request with a body could be read only once.
    if (String(init && init.method || input && input.method || "GET").toUpperCase() !== "GET") return null;
    var request = new Request(input, init), to = mapped(request.url, true);
    if (to === null || request.credentials === "omit" || request.cache !== "default" ||
        request.redirect !== "follow" || request.keepalive || request.mode !== "cors" && request.mode !== "same-origin") {
      return null;
    }
    return new Request(to, {
      headers: request.headers, signal: request.signal, integrity: request.integrity, mode: "cors",
      referrerPolicy: request.referrerPolicy
    });
  }

  window.fetch = function fetch(input, init) {
    var self = this, all = arguments, through = null;
    try {
      through = request(input, init);
    } catch (error) {}
    if (through === null) return apply(nativeFetch, self, all);
    return apply(nativeFetch, self, [through]).catch(function (error) {
      if (error && error.name === "AbortError") throw error;
      return apply(nativeFetch, self, all);
    });
  };
  patchGetter(window.Response, "url", plain);
  patchGetter(window.Request, "url", plain);

  // The URLs, without queries, of the requests that go through the handler, and those that have failed with it. The page
  // has to know of a failure; if it tries again, the engine sends the request.
  var handled = new WeakMap(), failedURLs = Object.create(null);

  function noteFailure() {
    failedURLs[handled.get(this)] = true;
  }

  XMLHttpRequest.prototype.open = function (method, url, isAsynchronous, user, password) {
    var to = null;
    if (kinds.requests && allowsRequests && String(method).toUpperCase() === "GET" &&
        (arguments.length < 3 || isAsynchronous) && user == null && password == null) {
      to = mapped(String(url), true);
    }
    var plainURL = to === null ? "" : to.replace(/[?#].*/, "");
    if (plainURL in failedURLs) to = null;
    handled.set(this, to === null ? "" : plainURL);
    if (to !== null) this.addEventListener("error", noteFailure, true);
    return apply(open, this, to === null ? arguments : ["GET", to, true]);
  };
  patchGetter(window.XMLHttpRequest, "responseURL", plain);

  if (kinds.requests) {
    // The handler answers this one itself.
    nativeFetch(prefix + location.origin + "/", { method: "OPTIONS" }).then(function (response) {
      allowsRequests = response.status === 204;
    }, function () {});
  }

  // MARK: Failures

  // What the handler or the page's policy refuses is loaded by the engine after all. What the engine was already loading
  // when the observer saw it, and could not load, is loaded through the handler, which may have stored it.
  window.addEventListener("error", function (event) {
    var element = event.target;
    if (!element || element.nodeType !== 1 || failed.has(element)) return;
    var known = rewritten.get(element);
    if (known) {
      rewritten.delete(element);
      failed.add(element);
      event.stopImmediatePropagation();
      if (element.localName === "script") return runAgain(element, known.src);
      for (var name in known) apply(setAttribute, element, [name, known[name]]);
    } else if (element.localName === "script") {
      var to = replacement(element, "src", attribute(element, "src"));
      if (to === null) return;
      event.stopImmediatePropagation();
      runAgain(element, to);
    } else if (rewrite(element)) {
      event.stopImmediatePropagation();
      failed.add(element);
    }
  }, true);

  document.addEventListener("securitypolicyviolation", function (event) {
    if (!String(event.blockedURI).startsWith(prefix)) return;
    event.stopImmediatePropagation();
    if (/^connect/.test(event.effectiveDirective)) allowsRequests = false;
    if (/^img/.test(event.effectiveDirective)) kinds.images = false;
    if (/^script/.test(event.effectiveDirective)) kinds.scripts = kinds.modules = false;
    if (/^style/.test(event.effectiveDirective)) kinds.styles = false;
  }, true);

  // A script element loads once, and so does a clone of it.
  function runAgain(script, url) {
    var copy = document.createElement("script");
    for (var item of script.attributes) if (item.name !== "src") apply(setAttribute, copy, [item.name, item.value]);
    if (script.nonce) copy.nonce = script.nonce;
    apply(setAttribute, copy, ["src", url]);
    failed.add(copy);
    copy.addEventListener("load", function () { script.dispatchEvent(new Event("load")); });
    copy.addEventListener("error", function () { script.dispatchEvent(new Event("error")); });
    script.after(copy);
  }

  //{pages}
})();
