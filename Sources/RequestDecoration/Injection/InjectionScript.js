(function () {
  "use strict";
  //{parameters}
  // A page may have replaced whatever can be replaced before this runs. What stands below calls nothing of a page's
  // while it looks for this page's own cookies, is strict so that no function of a page gets at its source through
  // `caller` or a stack, and keeps the cookies on one line at the end, so that no place in a stack says how many there
  // are.
  if (typeof location === "undefined" || typeof document === "undefined") return;
  var protocol = location.protocol, host = location.hostname, path = location.pathname;
  var cookies = cookiesFor(protocol, host), items = itemsFor(protocol, location.host), counts = null;
  if (cookies.length === 0 && items.length === 0) return;
  var now = time(), given = mode === "always" ? "" : remembered(), before = visible(), after, cookie, index;
  for (index = 0; index < cookies.length; index++) cookies[index].state = seed(cookies[index]);
  after = visible();
  for (index = 0; index < cookies.length; index++) {
    cookie = cookies[index];
    if (cookie.state === "set" && find(after, cookie) !== "same") {
      cookie.state = "refused";
      // WebKitGTK cuts a value off at its first non-ASCII character: better none than half of one.
      if (find(after, cookie) === "cut" && find(before, cookie) === "none") remove(cookie);
    }
  }
  if (items.length > 0) counts = seedItems();
  if (mode !== "always") remember();
  return report();

  function seed(cookie) {
    if (before === null) return "blocked";
    if (cookie.expires !== null && cookie.expires <= now) return "expired";
    if (!isPartition(cookie.top)) return "elsewhere";
    if (!isSeenHere(cookie)) return cookie.unseen ? seedUnseen(cookie) : "elsewhere";
    if (mode === "once" && holds(given, cookie.mark)) return "given";
    var found = find(before, cookie);
    if (found === "same") return "present";
    if (found !== "none" && mode !== "always") return "kept";
    try {
      document.cookie = cookie.name + "=" + cookie.value + cookie.attributes;
    } catch (error) {
      return "refused";
    }
    return "set";
  }

  // A page may set a cookie of any path of its host, and sees only those of its own: nothing tells whether this one is
  // there already. So each tab is given it once, unless the jar always counts.
  function seedUnseen(cookie) {
    if (mode !== "always" && holds(given, cookie.mark)) return "given";
    try {
      document.cookie = cookie.name + "=" + cookie.value + cookie.attributes;
    } catch (error) {
      return "refused";
    }
    return "unverifiable";
  }

  // `items` has a mark, then keys and values in turn. What became of the items is counted by state.
  function seedItems() {
    var states = { set: 0, present: 0, kept: 0, given: 0, refused: 0, blocked: 0 }, storage = null, index;
    if (mode === "once" && holds(given, items[0])) {
      states.given = (items.length - 1) / 2;
      return states;
    }
    try {
      storage = window.localStorage;
    } catch (error) {}
    for (index = 1; index < items.length; index += 2) states[seedItem(storage, items[index], items[index + 1])]++;
    return states;
  }

  function seedItem(storage, key, value) {
    if (!storage) return "blocked";
    try {
      var found = storage.getItem(key);
      if (found === value) return "present";
      if (found !== null && mode !== "always") return "kept";
      storage.setItem(key, value);
      return storage.getItem(key) === value ? "set" : "refused";
    } catch (error) {
      return "refused";
    }
  }

  function remove(cookie) {
    try {
      document.cookie = cookie.name + "=x" + cookie.attributes + "; Max-Age=0";
    } catch (error) {}
  }

  // Draft, section 5.1.4. A path that no attribute can say is the default-path of the pages that may set it.
  function isSeenHere(cookie) {
    var length = cookie.path.length, index, slash = 0;
    if (cookie.ownPath) {
      for (index = 1; index < path.length; index++) if (path[index] === "/") slash = index;
      if (slash !== length) return false;
    }
    if (path.length < length) return false;
    for (index = 0; index < length; index++) if (path[index] !== cookie.path[index]) return false;
    return path.length === length || cookie.path[length - 1] === "/" || path[length] === "/";
  }

  // `top` is null for a cookie without a partition, "" for one of the page that is in the address bar itself, else
  // the origin of the page that is.
  function isPartition(top) {
    if (top === null) return true;
    try {
      if (top === "") return window.top === window;
      var ancestors = location.ancestorOrigins;
      return ancestors.length > 0 && ancestors[ancestors.length - 1] === top;
    } catch (error) {
      return false;
    }
  }

  // The state of a cookie in a cookie-string: "none", "same", "cut" for the beginning of its value, "other" for another one.
  function find(text, cookie) {
    var found = "none", start = 0, end, equals, index, hasName;
    if (text === null) return found;
    while (start < text.length) {
      end = start;
      equals = -1;
      while (end < text.length && text[end] !== ";") {
        if (equals < 0 && text[end] === "=") equals = end;
        end++;
      }
      if (cookie.name === "" || equals < 0) {
        if (cookie.name === "" && matches(text, start, end, cookie.value)) return "same";
        if (cookie.name === "" && equals < 0) found = begins(text, start, end, cookie.value) ? "cut" : "other";
      } else if (matches(text, start, equals, cookie.name)) {
        if (matches(text, equals + 1, end, cookie.value)) return "same";
        found = begins(text, equals + 1, end, cookie.value) ? "cut" : "other";
      }
      start = end + 1;
      if (start < text.length && text[start] === " ") start++;
    }
    return found;
  }

  function matches(text, start, end, part) {
    return end - start === part.length && begins(text, start, end, part);
  }

  // Whether what stands there is `part`, or its beginning.
  function begins(text, start, end, part) {
    if (end - start > part.length) return false;
    for (var index = 0; start + index < end; index++) if (text[start + index] !== part[index]) return false;
    return true;
  }

  function visible() {
    try {
      var text = document.cookie;
      return typeof text === "string" ? text : null;
    } catch (error) {
      return null;
    }
  }

  function time() {
    try {
      return +Date.now();
    } catch (error) {
      return 0;
    }
  }

  // The marks of the cookies that this tab was given, eight characters each. Without storage they are forgotten.
  function remembered() {
    try {
      var text = sessionStorage.getItem("crumb");
      return typeof text === "string" && text.length <= 8192 ? text : "";
    } catch (error) {
      return "";
    }
  }

  function holds(marks, mark) {
    for (var start = 0; start + 8 <= marks.length; start += 8) if (matches(marks, start, start + 8, mark)) return true;
    return false;
  }

  function remember() {
    var marks = given, state;
    for (var index = 0; index < cookies.length; index++) {
      state = cookies[index].state;
      if (state === "unverifiable" || (mode === "once" && (state === "set" || state === "present" || state === "kept"))) {
        marks += cookies[index].mark;
      }
    }
    if (mode === "once" && counts !== null && counts.given + counts.refused + counts.blocked === 0) marks += items[0];
    if (marks === given) return;
    try {
      sessionStorage.setItem("crumb", marks);
    } catch (error) {}
  }

  function report() {
    if (!verifies) return;
    var text = '{"crumb":"injection","page":"' + protocol + "//" + host + '","cookies":[';
    for (var index = 0; index < cookies.length; index++) {
      text += (index > 0 ? "," : "") + cookies[index].label + ',"state":"' + cookies[index].state + '"}';
    }
    text += "]" + storageReport() + "}";
    if (handler === null) return text;
    try {
      window.webkit.messageHandlers[handler].postMessage(text);
    } catch (error) {
      try {
        window[handler](text);
      } catch (unheard) {}
    }
  }

  function storageReport() {
    if (counts === null) return "";
    return ',"storage":{"set":' + counts.set + ',"present":' + counts.present + ',"kept":' + counts.kept +
      ',"given":' + counts.given + ',"refused":' + counts.refused + ',"blocked":' + counts.blocked + "}";
  }

  //{cookies}
  //{items}
})();
