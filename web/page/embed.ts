/**
 * Messages to the embedding page. They contain no answers. `height` is in CSS pixels; `dir` is the form's
 * text direction.
 */
type EmbedEvent =
  | { event: 'loaded' }
  | { event: 'height'; height: number; dir: string }
  /** The Escape key. A dialog around the frame would not receive it otherwise. */
  | { event: 'escape' }
  | { event: 'step'; step: number; steps: number }
  | { event: 'submitted'; receipt: string }
  /**
   * The author's redirect URL after a submission. The embedding page opens it if it can, and replies
   * `leaving`.
   */
  | { event: 'redirect'; address: string };

/**
 * Sends a message to the embedding page, if there is one. Any page may receive it, because the form's
 * settings decide which pages may embed the form.
 */
export function sendToEmbedder(message: EmbedEvent): void {
  if (parent === window) return;
  const [, , form] = location.pathname.split('/');
  parent.postMessage({ formloom: 1, form, ...message }, '*');
}

/**
 * Reports a submission from the confirmation to the embedding page, even without the rest of the script.
 * Moves the focus to the heading, because browsers ignore `autofocus` in a cross-origin frame.
 */
export function reportSubmission(): void {
  const receipt = new URLSearchParams(location.search).get('receipt');
  if (!receipt || !location.pathname.endsWith('/submitted')) return;
  sendToEmbedder({ event: 'submitted', receipt });
  if (parent !== window) document.querySelector('h1')?.focus({ preventScroll: true });
}

/**
 * Reports to the embedding page that the form has loaded, and its height whenever it changes. Also reports
 * the Escape key, which closes a dialog around the frame.
 */
export function reportHeight(): void {
  if (parent === window) return;
  sendToEmbedder({ event: 'loaded' });
  const { body, dir } = document;
  const reportHeight = (): void =>
    sendToEmbedder({ event: 'height', height: Math.ceil(body.getBoundingClientRect().height), dir });
  // Browsers do not run observers in a cross-origin frame that is out of view. Reporting now gives the form
  // its height before the visitor scrolls to it.
  reportHeight();
  void document.fonts.ready.then(reportHeight);
  new ResizeObserver(reportHeight).observe(body);
  addEventListener('keydown', ({ key, defaultPrevented }) => {
    if (key === 'Escape' && !defaultPrevented) sendToEmbedder({ event: 'escape' });
  });
}
