/** Runs `act` after a closed overlay has returned the focus. This takes one frame. */
export function afterFocusReturned(act: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(act));
}
