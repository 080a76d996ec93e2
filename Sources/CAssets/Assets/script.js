// Live changes: the server says which jobs changed, the page is read again, and what differs is put in its place.
// Everything works without this script but that.
(() => {
  "use strict";
  const address = document.body.dataset.changes;
  const button = document.getElementById("live");
  if (!address || !button || !window.EventSource) return;
  const words = button.querySelector(".words");
  let after = new URL(address, location.href).searchParams.get("after");
  let source = null, isPaused = false, timer = null, isReading = false, isStale = false, isLost = false, last = 0, cost = 0;

  const say = (text) => { if (words.textContent !== text) words.textContent = text; };

  // What has a name is known by it, for others come in above it; all else by its place.
  const name = (d, i) => d.dataset.name || i;

  const replace = (old, fresh) => {
    const selection = getSelection();
    if (old.isEqualNode(fresh) || !selection.isCollapsed && selection.containsNode(old, true)) return;
    // What a person has opened, ticked or begun to type stays.
    const open = new Set([...old.querySelectorAll("details")].map((d, i) => d.open ? name(d, i) : null));
    [...fresh.querySelectorAll("details")].forEach((d, i) => { d.open = open.has(name(d, i)); });
    if (old.contains(document.activeElement) && !old.matches("tr")) {
      const focused = [...old.querySelectorAll("a,button,summary,[tabindex]")].indexOf(document.activeElement);
      old.replaceWith(fresh);
      fresh.querySelectorAll("a,button,summary,[tabindex]")[focused]?.focus({ preventScroll: true });
    } else old.replaceWith(fresh);
  };

  const rows = (old, fresh) => {
    const known = new Map([...old.children].map((row) => [row.id, row]));
    const wanted = [...fresh.children];
    const isFirst = known.size === 0;
    for (const [id, row] of known) if (!wanted.some((other) => other.id === id)) row.remove();
    wanted.forEach((row, place) => {
      const shown = known.get(row.id);
      if (shown) {
        const box = shown.querySelector("input[type=checkbox]");
        const next = row.querySelector("input[type=checkbox]");
        if (box && next) next.checked = box.checked;
        if (!shown.isEqualNode(row)) {
          const hasChanged = shown.querySelector(".where")?.textContent.split(" ")[1] !== row.querySelector(".where")?.textContent.split(" ")[1];
          const focused = shown.contains(document.activeElement) ? document.activeElement.tagName : null;
          shown.replaceWith(row);
          if (focused) row.querySelector(focused)?.focus({ preventScroll: true });
          if (hasChanged) row.classList.add("new");
        }
      } else if (!isFirst) row.classList.add("new");
      const now = document.getElementById(row.id) || row;
      if (old.children[place] !== now) old.insertBefore(now, old.children[place] || null);
    });
  };

  const read = async () => {
    timer = null;
    if (isReading) { isStale = true; return; }
    isReading = true; isStale = false;
    const start = performance.now();
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (answer.status === 401) { location.reload(); return; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (isPaused || !answer.ok) return;
      const oldRows = document.querySelector("[data-live-rows]"), newRows = page.querySelector("[data-live-rows]");
      const oldParts = [...document.querySelectorAll("[data-live]")], newParts = [...page.querySelectorAll("[data-live]")];
      const isSame = oldParts.length === newParts.length && oldParts.every((part, i) => part.id === newParts[i].id);
      if (isSame && !oldRows === !newRows) {
        oldParts.forEach((part, i) => replace(part, document.adoptNode(newParts[i])));
        if (oldRows) rows(oldRows, document.adoptNode(newRows));
      } else document.getElementById("main").replaceWith(document.adoptNode(page.getElementById("main")));
      document.body.dataset.seen = after;
    } catch { say("Connecting"); } finally {
      cost = performance.now() - start; last = performance.now(); isReading = false;
      if (isStale) soon();
    }
  };

  // Not more often than four times a second, and never for more than a fifth of the time.
  const soon = () => {
    if (timer || isPaused) return;
    timer = setTimeout(read, Math.max(0, last + Math.max(250, 4 * cost) - performance.now()));
  };

  const open = () => {
    if (source || isPaused || document.hidden) return;
    const url = new URL(address, location.href);
    url.searchParams.set("after", after);
    source = new EventSource(url);
    source.onopen = () => { button.classList.remove("lost"); say("Live"); if (isLost) { isLost = false; soon(); } };
    const took = (event) => { after = event.lastEventId || after; soon(); };
    source.addEventListener("change", took);
    source.addEventListener("beat", took);
    source.onerror = () => {
      say("Connecting");
      button.classList.add("lost");
      isLost = true;
      // A refusal ends a source for good: another one is tried. The page itself says why, if one has to sign in again.
      if (source.readyState === 2) { close(); soon(); setTimeout(open, 15000); }
    };
  };
  const close = () => { source?.close(); source = null; };

  button.hidden = false;
  button.addEventListener("click", () => {
    isPaused = !isPaused;
    button.setAttribute("aria-pressed", isPaused);
    say(isPaused ? "Paused" : "Live");
    if (isPaused) close(); else { open(); soon(); }
  });
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else { open(); soon(); } });
  addEventListener("pagehide", close);
  open();
})();
