import { sendToEmbedder } from './embed.ts';

/** How long the embedding page has to reply that it opens the redirect URL, in ms. */
const handoverMs = 400;

/**
 * Opens the author's redirect URL outside the frame. An embedding page with our script opens it itself.
 * Otherwise this page navigates the top window, and if the browser forbids that, the confirmation shows a
 * link.
 */
export function leaveFrame(address: string, receipt: string): void {
  const lead = setTimeout(() => {
    const own = new URLSearchParams(location.search);
    own.set('receipt', receipt);
    const [, , form] = location.pathname.split('/');
    try {
      top!.location.href = address;
    } finally {
      location.assign(`/f/${form}/submitted?${own.toString()}`);
    }
  }, handoverMs);
  addEventListener('message', ({ source, data }: MessageEvent<{ formloom?: 1; event?: string } | null>) => {
    if (source === parent && data?.formloom === 1 && data.event === 'leaving') clearTimeout(lead);
  });
  sendToEmbedder({ event: 'redirect', address });
}
