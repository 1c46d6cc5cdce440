import { sendToEmbedder } from './embed.ts';

/** How long the embedding page has to reply that it will open the redirect URL, in ms. */
const handoverMs = 400;

/**
 * Opens the author's redirect URL outside the frame. If the embedding page uses our script, it opens the URL
 * itself. Otherwise this page navigates the top window. If the browser forbids that, the confirmation shows a
 * link.
 */
export function leaveFrame(address: string, receipt: string): void {
  const timer = setTimeout(() => {
    const parameters = new URLSearchParams(location.search);
    parameters.set('receipt', receipt);
    const [, , form] = location.pathname.split('/');
    try {
      top!.location.href = address;
    } finally {
      location.assign(`/f/${form}/submitted?${parameters.toString()}`);
    }
  }, handoverMs);
  addEventListener('message', ({ source, data }: MessageEvent<{ formloom?: 1; event?: string } | null>) => {
    if (source === parent && data?.formloom === 1 && data.event === 'leaving') clearTimeout(timer);
  });
  sendToEmbedder({ event: 'redirect', address });
}
