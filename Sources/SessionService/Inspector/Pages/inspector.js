// The pages work without this: here values appear in place, and changes as they happen.

for (const form of document.querySelectorAll("form.reveal")) {
  const button = form.querySelector("button");
  const output = form.querySelector("output");
  const label = button.getAttribute("aria-label");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (output.value) {
      output.value = "";
      button.textContent = "Show";
      button.setAttribute("aria-label", label);
      return;
    }
    const answer = await fetch(form.action, {
      method: "POST",
      headers: { Accept: "text/plain" },
      body: new URLSearchParams(new FormData(form)),
    }).catch(() => null);
    if (!answer?.ok) {
      output.value = answer?.status === 403 ? "(not for your token)" : "(cannot be shown)";
      return;
    }
    output.value = (await answer.text()) || "(empty)";
    button.textContent = "Hide";
    button.setAttribute("aria-label", label.replace("Show", "Hide"));
  });
}

// Shows each event of a stream; says in a section whether it is connected.
function follow(section, url, name, show) {
  const note = section.querySelector(".live-note");
  const source = new EventSource(url);
  source.addEventListener("open", () => { note.textContent = "Newer ones appear here as they happen."; });
  source.addEventListener("error", () => { note.textContent = "The connection was lost; trying again."; });
  source.addEventListener(name, (event) => show(JSON.parse(event.data)));
}

function timeElement(moment) {
  const time = document.createElement("time");
  time.dateTime = moment.datetime;
  time.textContent = moment.text;
  return time;
}

function prepend(list, item) {
  item.className = "new";
  list.prepend(item);
  while (list.children.length > 200) list.lastElementChild.remove();
}

const changes = document.querySelector("[data-events]");
if (changes) {
  follow(changes, changes.dataset.events, "change", (change) => {
    const item = document.createElement("li");
    const cause = document.createElement("span");
    cause.className = `cause ${change.cause}`;
    cause.textContent = change.cause;
    item.append(timeElement(change.at), " ", cause, ` ${change.label}`);
    prepend(changes.querySelector("ol"), item);
  });
}

const requests = document.querySelector("[data-gateway]");
if (requests) {
  const cell = (name, ...parts) => {
    const cell = document.createElement(name);
    cell.append(...parts);
    return cell;
  };
  const names = (text) => Object.assign(cell("td", text), { className: "names" });
  // Nothing for a text that is missing.
  const labelled = (name, style, text) => {
    if (!text) return [];
    const element = cell(name, text);
    element.className = style;
    return [element];
  };
  follow(requests, requests.dataset.gateway, "request", (request) => {
    const status = labelled("span", `answer ${request.kind}`, request.status);
    const head = cell("th", request.request, ...labelled("p", "reason", request.note));
    head.scope = "row";
    head.className = "request";
    prepend(requests.querySelector("tbody"), cell(
      "tr", cell("td", timeElement(request.moment)), head, cell("td", ...status),
      cell("td", request.verdict, ...labelled("p", "reason", request.source)), names(request.sent), names(request.stored)));
  });
}
