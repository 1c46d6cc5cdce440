import { tell } from './embed.ts';

/** How long a page around this one has to say that it goes where the author leads, in ms. */
const handoverMs = 400;

/**
 * The author's own page is not for the frame of another one. A page with our script goes there by itself; else this one
 * asks the browser to, after the visitor's press; and where a frame may not, the confirmation has a link.
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
  tell({ event: 'redirect', address });
}
