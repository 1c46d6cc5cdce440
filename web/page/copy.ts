/** How long a button shows "Copied", in ms. */
const copiedMs = 3_000;

/** Adds a Copy button after each text or link of the page that people keep (src/page/render/notices.ts). */
export function addCopyButtons(): void {
  for (const source of document.querySelectorAll<HTMLElement>('[data-copy]')) {
    const { copy = '', copied = '', name = '' } = source.dataset;
    const button = Object.assign(document.createElement('button'), { type: 'button', className: 'copy' });
    const label = Object.assign(document.createElement('span'), { textContent: copy });
    // A screen reader announces the change of the focused button's text only in a live region.
    label.setAttribute('aria-live', 'polite');
    const object = Object.assign(document.createElement('span'), {
      className: 'unseen',
      textContent: ` ${name}`,
    });
    button.append(label, object);
    let timer: ReturnType<typeof setTimeout>;
    const press = async (): Promise<void> => {
      if (!(await copyText(source))) return;
      label.textContent = copied;
      clearTimeout(timer);
      timer = setTimeout(() => (label.textContent = copy), copiedMs);
    };
    button.addEventListener('click', () => void press());
    source.after(button);
  }
}

/** Copies a text or the address of a link. If the browser refuses, the text is selected to copy by hand. */
async function copyText(source: HTMLElement): Promise<boolean> {
  const text = source instanceof HTMLAnchorElement ? source.href : source.textContent;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages without HTTPS and frames of other sites have no clipboard.
    getSelection()?.selectAllChildren(source);
    const give = (event: ClipboardEvent): void => {
      event.clipboardData?.setData('text/plain', text);
      event.preventDefault();
    };
    document.addEventListener('copy', give, { once: true });
    const isCopied = document.execCommand('copy');
    document.removeEventListener('copy', give);
    return isCopied;
  }
}
