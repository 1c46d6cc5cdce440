import { type ReactElement, useEffect, useRef } from 'react';
import type { Form } from '#ast/form/tree.ts';
import { languagesOf } from '#ast/form/tree.ts';
import { todayIn } from '#ast/rules/today.ts';
import type { Settings } from '#ast/settings.ts';
import { elementStylesOfForm } from '#page/render/elements/element-renderers.ts';
import { renderForm } from '#page/render/form.ts';
import { everythingShown } from '#page/render/view.ts';
import { getPageStyle } from '#page/theme/page-style.ts';
import { chooseLanguage, problemsByLocale, wordsByLocale } from '#page/words/choose-locale.ts';
import { fileLimits, fillFrame, setPageStyle, writePage } from '../../design/page-document.ts';

/** Renders a form with the page renderer. Its images are not in this workspace yet. */
function drawForm(form: Form, settings: Settings): { text: string; style: string } {
  const { language, locale } = chooseLanguage(languagesOf(form), { setting: settings.locale });
  const { cover: _cover, logo: _logo, logo_dark: _dark, ...theme } = settings.theme ?? {};
  const look = getPageStyle(
    '',
    { theme },
    { isEmbedded: false, language, elements: elementStylesOfForm(form) },
  );
  const text = renderForm({
    form,
    step: 0,
    shown: everythingShown(form.children.map((_, index) => index)),
    language,
    words: wordsByLocale[locale],
    sentences: problemsByLocale[locale],
    numberLocale: language,
    look,
    limits: fileLimits,
    today: todayIn('UTC', new Date()),
    errors: [],
    held: new Map(),
    values: {},
    action: '#',
  });
  return { text, style: look.style };
}

/** Draws all steps of a form as its page will show them. Nothing can be entered. */
export function FormDrawing({ form, settings }: { form: Form; settings: Settings }): ReactElement {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const { text, style } = drawForm(form, settings);
    const current = frame.current!;
    return fillFrame(current, (page) => {
      setPageStyle(page, style);
      writePage(page, text);
      for (const step of page.querySelectorAll<HTMLElement>('section')) step.hidden = false;
      for (const control of page.querySelectorAll('.actions, .progress')) control.remove();
      page.body.style.pointerEvents = 'none';
      // As high as its content, so that it needs no scrollbar, and therefore no Tab stop.
      const resized = new ResizeObserver(() => {
        current.style.blockSize = `${page.body.scrollHeight}px`;
      });
      resized.observe(page.body);
      return () => resized.disconnect();
    });
  }, [form, settings]);
  return <iframe ref={frame} title="Preview of the form" className="form-drawing" tabIndex={-1} />;
}
