/*
 * Embeds a form in any web page: <script src="…/embed.js" data-form="<id>"></script>, inline, or behind a
 * button with data-popup="<its text>". This file is served as it is, but without types and comments
 * (src/page/theme/routes.ts). It runs in unknown pages, so it adds only one style sheet of zero specificity
 * and one element with the class `formloom`. Attributes and events: docs/embedding.md.
 */
'use strict';
{
  /** A message from the form's page (web/page/embed.ts). */
  type Message = {
    readonly formloom: 1;
    readonly form: string;
    readonly event: string;
    readonly height?: number;
    readonly dir?: string;
    readonly address?: string;
  };

  /** Everything is in `:where`, which has no specificity, so every rule of the page takes precedence. */
  const style = `
:where(.formloom) { display: block; }
:where(.formloom iframe) { display: block; inline-size: 100%; block-size: 30rem; border: 0; }
:where(.formloom-button) { font: inherit; font-weight: 600; min-block-size: 2.75rem; padding: .5rem 1.25rem; border: 0; border-radius: .625rem; background: #0b6655; color: #fff; cursor: pointer; }
:where(.formloom-dialog) { inline-size: min(46rem, 100vw - 2rem); max-inline-size: none; max-block-size: calc(100dvh - 2rem); margin: auto; padding: 0; border: 0; border-radius: 1rem; overflow: auto; background: Canvas; box-shadow: 0 1rem 4rem #0006; }
:where(.formloom-dialog)::backdrop { background: #0009; }
:where(:root:has(.formloom-dialog[open])) { overflow: hidden; }
:where(.formloom-close) { position: sticky; inset-block-start: .5rem; z-index: 1; display: block; inline-size: 2.75rem; block-size: 2.75rem; margin-block: .5rem -3.25rem; margin-inline: auto .5rem; padding: 0; border: 0; border-radius: 50%; background: #fffc; color: #333; font: 1.5rem/1 system-ui, sans-serif; cursor: pointer; }
:where(.formloom-button, .formloom-close):focus-visible { outline: 3px solid #1a73e8; outline-offset: 2px; }
@media (max-width: 40rem) { :where(.formloom-dialog) { inline-size: 100vw; margin-block-end: 0; border-radius: 1rem 1rem 0 0; } }`;

  /** The URL parameters that an empty data-reference copies from the URL of the page. */
  const campaign = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'];

  const make = <Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    properties: Partial<HTMLElementTagNameMap[Tag]>,
  ): HTMLElementTagNameMap[Tag] => Object.assign(document.createElement(tag), properties);

  /** Returns the form's URL with prefilled answers, reference data and the language. */
  const addressOf = (script: HTMLScriptElement, form: string, scheme: string): string => {
    const address = new URL(`f/${encodeURIComponent(form)}`, script.src);
    // Attribute names are lower case. Other ids can be prefilled with one attribute in the format of a query
    // string.
    for (const [name, value] of new URLSearchParams(script.dataset['prefill']))
      address.searchParams.append(name, value);
    for (const { name, value } of script.attributes)
      if (name.startsWith('data-prefill-')) address.searchParams.append(name.slice(13), value);
    // Copies only the named parameters, because the page's URL may contain private data.
    const names = script.dataset['reference']?.match(/\S+/g);
    const around = new URLSearchParams(location.search);
    for (const name of script.dataset['reference'] === undefined ? [] : (names ?? campaign)) {
      const value = around.get(name);
      if (value !== null && !name.startsWith('_') && !address.searchParams.has(name))
        address.searchParams.set(name, value);
    }
    if (script.dataset['lang']) address.searchParams.set('_lang', script.dataset['lang']);
    address.searchParams.set('_embed', '1');
    address.searchParams.set('_scheme', scheme);
    return address.href;
  };

  /** Whether the page around this element is light or dark, judged by its text color. */
  const schemeOf = (container: HTMLElement): 'light' | 'dark' => {
    const text = make('i', {});
    text.style.color = 'CanvasText';
    container.append(text);
    const [red = 0] = getComputedStyle(text).color.match(/\d+/g) ?? [];
    text.remove();
    return Number(red) > 127 ? 'dark' : 'light';
  };

  /** Creates a frame with the form, and dispatches its messages as events on the container. */
  const show = (script: HTMLScriptElement, form: string, container: HTMLElement): HTMLIFrameElement => {
    const scheme = schemeOf(container);
    const frame = make('iframe', {
      src: addressOf(script, form, scheme),
      title: script.dataset['title'] ?? script.dataset['popup'] ?? 'Form',
    });
    // If the color schemes of a frame and its page differ, browsers paint an opaque background.
    frame.style.colorScheme = scheme;
    const { origin } = new URL(script.src);
    addEventListener('message', ({ source, origin: sender, data }: MessageEvent<Message | null>) => {
      if (source !== frame.contentWindow || sender !== origin || data?.formloom !== 1) return;
      const { formloom: _, ...detail } = data;
      if (data.event === 'height') {
        frame.style.blockSize = `${data.height}px`;
        // The dialog follows the form's text direction, so that its close button is at the end of a line.
        frame.parentElement!.dir = data.dir === 'rtl' ? 'rtl' : 'ltr';
      } else container.dispatchEvent(new CustomEvent(`formloom:${data.event}`, { detail, bubbles: true }));
      if (data.event === 'redirect' && /^https?:/.test(data.address ?? '')) {
        frame.contentWindow?.postMessage({ formloom: 1, event: 'leaving' }, origin);
        location.assign(data.address!);
      }
      // A new step is scrolled to its top, even if the previous step was longer than the window.
      const isNext = data.event === 'step' || data.event === 'submitted';
      if (isNext && frame.getBoundingClientRect().top < 0) frame.scrollIntoView();
    });
    return frame;
  };

  /**
   * Adds a button that opens the form in a dialog. Answers are kept when the visitor closes the dialog and
   * opens it again.
   */
  const showBehindButton = (
    script: HTMLScriptElement,
    form: string,
    container: HTMLElement,
    text: string,
  ): void => {
    const button = make('button', { type: 'button', className: 'formloom-button', textContent: text });
    const dialog = make('dialog', { className: 'formloom-dialog' });
    const close = make('button', { type: 'button', className: 'formloom-close', textContent: '×' });
    close.setAttribute('aria-label', script.dataset['close'] ?? 'Close');
    dialog.setAttribute('aria-label', script.dataset['title'] ?? text);
    button.setAttribute('aria-haspopup', 'dialog');
    dialog.append(close);
    container.append(button, dialog);
    button.addEventListener('click', () => {
      // Loaded on the first click, so that an unused button costs visitors nothing. Appending the frame again
      // would reload it without the answers.
      const shown = dialog.querySelector('iframe');
      const frame = shown ?? show(script, form, container);
      if (!shown) dialog.append(frame);
      dialog.showModal();
      frame.focus();
    });
    close.addEventListener('click', () => dialog.close());
    dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
    // If the focus is in the form, only the form's page gets the Escape key, and reports it.
    container.addEventListener('formloom:escape', () => dialog.close());
    dialog.addEventListener('close', () => button.focus());
  };

  const script =
    document.currentScript instanceof HTMLScriptElement
      ? document.currentScript
      : document.querySelector<HTMLScriptElement>('script[data-form]:not([data-shown])');
  const form = script?.dataset['form'];
  if (script && form) {
    script.dataset['shown'] = '';
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    const container = make('div', { className: 'formloom' });
    container.dataset['form'] = form;
    const insertForm = (): void => {
      // A script in the head has no position in the body.
      if (script.parentElement === document.head) document.body.append(container);
      else script.after(container);
      const text = script.dataset['popup'];
      if (text) showBehindButton(script, form, container, text);
      else container.append(show(script, form, container));
    };
    // A script in the head may run before the body exists.
    if (document.body as HTMLElement | null) insertForm();
    else addEventListener('DOMContentLoaded', insertForm);
  }
}
