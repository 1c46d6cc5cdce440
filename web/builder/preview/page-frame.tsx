import { type ReactElement, useEffect, useRef } from 'react';
import type { Form } from '#ast/tree.ts';
import { stylesheet } from '#page/style.ts';
import { imageAddress, type Look } from '#page/theme/look.ts';
import { useForm } from '../../shell/form-place.ts';
import { parsePage } from '../canvas/parse-page.ts';
import { showLogic } from './show-logic.ts';
import { startTrial, type Trial, type TrialSettings } from './trial.ts';

type FrameProps = {
  readonly form: Form;
  readonly settings: TrialSettings;
  readonly look: Look;
  readonly width: string;
};

/** The page of a form in a frame of its own, with the page's own style sheet and width; it never leaves this page. */
export function PageFrame({ form, settings, look, width }: FrameProps): ReactElement {
  const { id: formId } = useForm();
  const frame = useRef<HTMLIFrameElement>(null);
  const theme = useRef('');
  const { style } = look;
  // Addresses, not the pictures: a look is made anew with each colour.
  const [logo, darkLogo, cover] = [look.logo, look.darkLogo, look.cover].map((picture) => picture?.address);
  useEffect(() => {
    theme.current = style;
    // Another colour is no other page: what was entered stays.
    const [, sheet] = frame.current?.contentDocument?.adoptedStyleSheets ?? [];
    sheet?.replaceSync(style);
  }, [style]);
  useEffect(() => {
    const { current } = frame;
    if (!current) return undefined;
    const begin = (): (() => void) =>
      showPage(current, {
        theme: theme.current,
        trial: startTrial(form, settings, new Date(), {
          logo: logo === undefined ? undefined : { address: logo },
          darkLogo: darkLogo === undefined ? undefined : { address: darkLogo },
          cover: cover === undefined ? undefined : { address: cover },
          pictureOf: (id) => ({ address: imageAddress(formId, id) }),
        }),
      });
    let leave = begin();
    // Some browsers put the empty document in place only now, and with it take away what was shown.
    const again = (): void => {
      if (current.contentDocument?.querySelector('main')) return;
      leave();
      leave = begin();
    };
    current.addEventListener('load', again);
    return () => {
      current.removeEventListener('load', again);
      leave();
    };
  }, [form, formId, settings, logo, darkLogo, cover]);
  return (
    <iframe ref={frame} title="Preview of the form" className="preview-frame" style={{ inlineSize: width }} />
  );
}

type Shown = { readonly theme: string; readonly trial: Trial };

function showPage(frame: HTMLIFrameElement, { theme, trial }: Shown): () => void {
  const page = frame.contentDocument!;
  const inside = frame.contentWindow as Window & typeof globalThis;
  page.adoptedStyleSheets = [stylesheet, theme].map((text) => {
    const sheet = new inside.CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
  const read = (element: HTMLFormElement, submitter: HTMLElement | null): FormData =>
    new inside.FormData(element, submitter);
  const show = (text: string): void => {
    const parsed = parsePage(text);
    page.title = parsed.title;
    page.documentElement.lang = parsed.documentElement.lang;
    page.documentElement.dir = parsed.documentElement.dir;
    page.body.replaceChildren(page.importNode(parsed.querySelector('main')!, true));
    inside.scrollTo(0, 0);
    page.querySelector<HTMLElement>('[autofocus]')?.focus();
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    show(trial.post(read(event.target as HTMLFormElement, event.submitter)));
  };
  const input = (event: Event): void => {
    const element = (event.target as HTMLInputElement).form;
    if (element) showLogic(trial.form, element, trial.look(read(element, null)));
  };
  page.addEventListener('submit', submit);
  page.addEventListener('input', input);
  show(trial.page());
  return () => {
    page.removeEventListener('submit', submit);
    page.removeEventListener('input', input);
  };
}
