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

const section = document.querySelector("[data-events]");
if (section) {
  const list = section.querySelector("ol");
  const note = section.querySelector(".live-note");
  const source = new EventSource(section.dataset.events);
  source.addEventListener("open", () => { note.textContent = "Newer ones appear here as they happen."; });
  source.addEventListener("error", () => { note.textContent = "The connection was lost; trying again."; });
  source.addEventListener("change", (event) => {
    const change = JSON.parse(event.data);
    const item = document.createElement("li");
    item.className = "new";
    const time = document.createElement("time");
    time.dateTime = time.textContent = change.at;
    const cause = document.createElement("span");
    cause.className = `cause ${change.cause}`;
    cause.textContent = change.cause;
    item.append(time, " ", cause, ` ${change.label}`);
    list.prepend(item);
    while (list.children.length > 200) list.lastElementChild.remove();
  });
}
