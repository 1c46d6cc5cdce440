/** What a page that embeds the form is told; it carries no answer. `height` in CSS pixels, `dir` as the form's language runs. */
type EmbedEvent =
  | { event: 'loaded' }
  | { event: 'height'; height: number; dir: string }
  /** The Escape key, which a dialog around the form would not hear. */
  | { event: 'escape' }
  | { event: 'step'; step: number; steps: number }
  | { event: 'submitted'; receipt: string }
  /** The author's own page after a submission, where the page around goes if it can; it then says `leaving`. */
  | { event: 'redirect'; address: string };

/** Tells the page around this one, if there is one. Any page may hear it: whom the form trusts decides who frames it. */
export function tell(message: EmbedEvent): void {
  if (parent === window) return;
  const [, , form] = location.pathname.split('/');
  parent.postMessage({ formloom: 1, form, ...message }, '*');
}

/**
 * Tells it that the answers were taken, on the page that thanks for them: with and without the rest of the script. The
 * focus is brought there, as a browser leaves `autofocus` out in a frame of another site.
 */
export function tellReceipt(): void {
  const receipt = new URLSearchParams(location.search).get('receipt');
  if (!receipt || !location.pathname.endsWith('/submitted')) return;
  tell({ event: 'submitted', receipt });
  if (parent !== window) document.querySelector('h1')?.focus({ preventScroll: true });
}

/**
 * Tells the page around this one that it is here, how high it is whenever that changes, and of the Escape key, which
 * closes the dialog that the form may be in and is heard in here only.
 */
export function tellHeight(): void {
  if (parent === window) return;
  tell({ event: 'loaded' });
  const { body, dir } = document;
  const tellNow = (): void =>
    tell({ event: 'height', height: Math.ceil(body.getBoundingClientRect().height), dir });
  // Browsers draw no frame of another site that is not seen yet, and observe nothing in it: who scrolls to the form
  // finds it as high as it is.
  tellNow();
  void document.fonts.ready.then(tellNow);
  new ResizeObserver(tellNow).observe(body);
  addEventListener('keydown', ({ key, defaultPrevented }) => {
    if (key === 'Escape' && !defaultPrevented) tell({ event: 'escape' });
  });
}
