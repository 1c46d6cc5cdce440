import { type RefObject, useEffect } from 'react';

const overlays = '.dialog-veil, .finder-veil, .popover';

/**
 * Returns the focus to the canvas when a dialog or menu over it closes. React Aria only returns it to elements
 * outside of shadow roots.
 */
export function useFocusReturn(host: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let last: Element | null | undefined;
    const note = ({ target }: FocusEvent): void => {
      const isOver = target instanceof Element && target.closest(overlays);
      if (!isOver) last = target === host.current ? host.current?.shadowRoot?.activeElement : undefined;
    };
    const watcher = new MutationObserver(() => {
      const isLost = document.activeElement === document.body && !document.querySelector(overlays);
      if (isLost && last instanceof HTMLElement && last.isConnected) last.focus({ preventScroll: true });
    });
    document.addEventListener('focusin', note);
    watcher.observe(document.body, { childList: true });
    return () => {
      document.removeEventListener('focusin', note);
      watcher.disconnect();
    };
  }, [host]);
}
