/** What closes over the page gives the focus back one frame later; what takes it then has to come after. */
export function afterFocusReturned(act: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(act));
}
