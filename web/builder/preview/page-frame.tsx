import { type ReactElement, useEffect, useRef } from 'react';
import { stylesheet } from '#page/style.ts';
import type { Form } from '#ast/tree.ts';
import { parsePage } from '../canvas/parse-page.ts';
import { startTrial, type Trial } from './trial.ts';

/** The page of a form in a frame of its own, with the page's own style sheet and width; it never leaves this page. */
export function PageFrame({
  form,
  confirmationMessage,
  width,
}: {
  form: Form;
  confirmationMessage: string | undefined;
  width: string;
}): ReactElement {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const { current } = frame;
    if (!current) return undefined;
    let leave = showPage(current, startTrial(form, confirmationMessage));
    // Some browsers put the empty document in place only now, and with it take away what was shown.
    const again = (): void => {
      if (current.contentDocument?.querySelector('main')) return;
      leave();
      leave = showPage(current, startTrial(form, confirmationMessage));
    };
    current.addEventListener('load', again);
    return () => {
      current.removeEventListener('load', again);
      leave();
    };
  }, [form, confirmationMessage]);
  return (
    <iframe ref={frame} title="Preview of the form" className="preview-frame" style={{ inlineSize: width }} />
  );
}

function showPage(frame: HTMLIFrameElement, trial: Trial): () => void {
  const page = frame.contentDocument!;
  const sheet = new (frame.contentWindow as Window & typeof globalThis).CSSStyleSheet();
  sheet.replaceSync(stylesheet);
  page.adoptedStyleSheets = [sheet];
  const show = (text: string): void => {
    const parsed = parsePage(text);
    page.title = parsed.title;
    page.documentElement.lang = parsed.documentElement.lang;
    page.documentElement.dir = parsed.documentElement.dir;
    page.body.replaceChildren(page.importNode(parsed.querySelector('main')!, true));
    frame.contentWindow?.scrollTo(0, 0);
    page.querySelector<HTMLElement>('[autofocus]')?.focus();
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    show(
      trial.post(
        new (frame.contentWindow as Window & typeof globalThis).FormData(
          event.target as HTMLFormElement,
          event.submitter,
        ),
      ),
    );
  };
  page.addEventListener('submit', submit);
  show(trial.page());
  return () => page.removeEventListener('submit', submit);
}
