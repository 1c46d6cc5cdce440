/** Runs `act` after a closed overlay has returned the focus, which takes one frame. */
export function afterFocusReturned(act: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(act));
}
