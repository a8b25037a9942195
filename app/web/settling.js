// Questions that are asked while somebody types: not each letter's, and only the newest one's answer counts.

/** Act when nothing came for a while. */
export function debounced(act, milliseconds) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, milliseconds);
  };
}

/** Only the newest of several runs goes on: each aborts the one before. */
export function latest(act) {
  let controller = new AbortController();
  return () => {
    controller.abort();
    controller = new AbortController();
    return act(controller.signal);
  };
}
