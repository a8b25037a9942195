// Limits requests while somebody types: waits for a pause, and uses only the newest response.

/** Return a function that calls `act` after it was not called for so many milliseconds. */
export function debounce(act, milliseconds) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, milliseconds);
  };
}

/** Return a function that runs `act` with an abort signal; each run aborts the previous one. */
export function cancelPrevious(act) {
  let controller = new AbortController();
  return () => {
    controller.abort();
    controller = new AbortController();
    return act(controller.signal);
  };
}
