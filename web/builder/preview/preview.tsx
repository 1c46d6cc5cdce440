import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import { isOptionOffered } from '#ast/form/conditional-options.ts';
import { fieldName, findInput, indexQuestionsById } from '#ast/form/fields.ts';
import {
  type Form,
  type InputElement,
  isInput,
  isVisibleToVisitors,
  listQuestions,
  type PlacedElement,
  walkElements,
} from '#ast/form/tree.ts';
import { listCalculationResults } from '#page/render/elements/results.ts';
import { imageAddress } from '#page/theme/image-address.ts';
import { getPageStyle, type PageStyle, schemeStyle } from '#page/theme/page-style.ts';
import { useCurrentForm } from '../../shell/current-form.ts';
import { type FormPreview, type PreviewEffects, type PreviewSettings, startPreview } from './form-preview.ts';
import './preview-view.css';
import type { Settings } from '#ast/settings.ts';
import type { Scheme } from '#ast/theme/colour.ts';
import { elementStylesOfForm } from '#page/render/elements/element-renderers.ts';
import { languageStyle } from '#page/render/language-switch.ts';
import { Button } from '../../design/button.tsx';
import { Icon, type IconName } from '../../design/icon.tsx';
import { fillFrame, setPageStyle, writePage } from '../../design/page-document.ts';
import { EmptyState } from '../../design/states.tsx';
import type { EditNode } from '../model/edit-node.ts';
import { validateRoot } from '../model/form-problems.ts';
import { chooseSchemeToPreview, drawableTheme, withSchemeLogo } from '../model/theme-choices.ts';

/**
 * Applies conditions while answers are entered, as the page's script does, and records what the visitor has
 * seen.
 */
function showLogic(form: Form, page: HTMLFormElement, look: PreviewEffects): void {
  const { shown, seen, isLast, progress } = look;
  for (const placed of walkElements(form)) {
    const { element, path, group } = placed;
    const boxes = page.querySelectorAll<HTMLElement>(`[data-path="${path.join('.')}"]`);
    for (const [index, box] of boxes.entries())
      box.hidden = !isVisibleToVisitors(element) || !shown.isShown(element, group && { group, index });
    if (isInput(element) && element.attrs.require_when) showRequired(page, look, element, placed);
  }
  offerOptions(form, page, look);
  for (const { name, text } of listCalculationResults(
    form,
    look,
    (group) => page.querySelectorAll(`[id="${group.attrs.id}"] > .one_row`).length,
  )) {
    const output = page.querySelector(`output[id="${CSS.escape(name)}"]`);
    if (output) output.textContent = text;
  }
  const button = (go: string) => page.querySelector<HTMLElement>(`.actions [value="${go}"]`);
  button('next')?.toggleAttribute('hidden', isLast);
  button('submit')?.toggleAttribute('hidden', !isLast);
  const text = page.querySelector('#_progress p');
  if (text) text.textContent = progress;
  noteSeen(page, seen);
}

/** Updates the "required" mark beside the label, in every row. */
function showRequired(
  page: HTMLFormElement,
  { shown }: PreviewEffects,
  element: InputElement,
  { group }: PlacedElement,
): void {
  for (let index = 0; ; index += 1) {
    const row = group && { group, index };
    const control = page.querySelector(`[name="${CSS.escape(fieldName(element, row))}"]`);
    const mark = control?.closest('.field')?.querySelector<HTMLElement>('.mark');
    if (mark) mark.hidden = !shown.isRequired(element, row);
    if (!control || !row) return;
  }
}

/** Shows the options that are currently offered, and clears chosen options that are hidden. */
function offerOptions(form: Form, page: HTMLFormElement, { shown }: PreviewEffects): void {
  const questions = indexQuestionsById(listQuestions(form));
  for (const control of page.querySelectorAll<HTMLInputElement | HTMLOptionElement>('[data-offer]')) {
    const select = control.closest('select');
    const found = findInput(questions, select?.name ?? (control as HTMLInputElement).name);
    const isIn = found !== undefined && isOptionOffered(found.input, control.value, shown.holds, found.row);
    const box = select ? control : control.closest('label')!;
    box.hidden = !isIn;
    control.disabled = !isIn || control.dataset['offer'] === 'full';
    if (!isIn) Object.assign(control, { [select ? 'selected' : 'checked']: false });
  }
}

function noteSeen(page: HTMLFormElement, seen: Iterable<string>): void {
  for (const old of page.querySelectorAll('input[name="_seen"]')) old.remove();
  for (const mark of seen) {
    const input = page.ownerDocument.createElement('input');
    Object.assign(input, { type: 'hidden', name: '_seen', value: mark });
    page.append(input);
  }
}

type FrameProps = {
  readonly form: Form;
  readonly settings: PreviewSettings;
  readonly look: PageStyle;
  readonly width: string;
};

/** Shows a form's page in a frame with the page's style sheets and width. Links never leave the frame. */
function PageFrame({ form, settings, look, width }: FrameProps): ReactElement {
  const { id: formId } = useCurrentForm();
  const frame = useRef<HTMLIFrameElement>(null);
  const theme = useRef('');
  const { style } = look;
  // Depends on the URLs rather than on the image objects, because a color change creates a new look.
  const [logo, darkLogo, cover] = [look.logo, look.darkLogo, look.cover].map((picture) => picture?.address);
  useEffect(() => {
    theme.current = style;
    // A color change replaces only the style sheet, without reloading the page, so entered answers stay.
    const [, sheet] = frame.current?.contentDocument?.adoptedStyleSheets ?? [];
    sheet?.replaceSync(style);
  }, [style]);
  useEffect(() => {
    const { current } = frame;
    if (!current) return undefined;
    return fillFrame(current, (page) =>
      showPage(page, {
        theme: theme.current,
        trial: startPreview(form, settings, new Date(), {
          logo: logo === undefined ? undefined : { address: logo },
          darkLogo: darkLogo === undefined ? undefined : { address: darkLogo },
          cover: cover === undefined ? undefined : { address: cover },
          pictureOf: (id) => ({ address: imageAddress(formId, id) }),
        }),
      }),
    );
  }, [form, formId, settings, logo, darkLogo, cover]);
  return <iframe ref={frame} title="Form preview" className="preview-frame" style={{ inlineSize: width }} />;
}

type Shown = { readonly theme: string; readonly trial: FormPreview };

function showPage(page: Document, { theme, trial }: Shown): () => void {
  const inside = page.defaultView!;
  setPageStyle(page, theme);
  const read = (element: HTMLFormElement, submitter: HTMLElement | null): FormData =>
    new inside.FormData(element, submitter);
  const show = (text: string): void => {
    writePage(page, text);
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

const widths = [
  { id: 'desktop', label: 'Desktop', icon: 'desktop', width: '100%' },
  { id: 'phone', label: 'Phone, 375 px', icon: 'phone', width: '375px' },
] as const satisfies readonly { id: string; label: string; icon: IconName; width: string }[];

/**
 * Returns the settings for a preview. The object is stable until one of them changes, so that a change of a
 * color does not restart the preview.
 */
function usePreviewSettings(settings: Settings): PreviewSettings {
  const { confirmation_message, layout, locale, review_step, time_zone, translations, theme } = settings;
  const { submit_label, confirmation_title } = theme ?? {};
  const packed = JSON.stringify({
    confirmation_message,
    layout,
    locale,
    review_step,
    time_zone,
    translations,
    theme: { submit_label, confirmation_title },
  });
  return useMemo(() => JSON.parse(packed) as PreviewSettings, [packed]);
}

type PageProps = {
  readonly root: EditNode;
  readonly formId: string;
  readonly settings: Settings;
  readonly width: string;
  /** The color scheme to show; undefined: as the device is set. */
  readonly scheme?: Scheme;
};

/** Shows the page of a form as visitors will see it, or why it cannot be shown yet. */
export function FormPage({ root, formId, settings, width, scheme }: PageProps): ReactElement {
  const result = validateRoot(root);
  const elements = result.ok ? `${elementStylesOfForm(result.form)}\n${languageStyle}` : '';
  const trial = usePreviewSettings(settings);
  const look = useMemo(() => {
    const drawable = drawableTheme(settings.theme ?? {});
    const context = { isEmbedded: false, language: settings.locale ?? 'en', elements };
    const page = getPageStyle(formId, { ...settings, theme: drawable }, context);
    if (scheme === undefined) return page;
    const shown = chooseSchemeToPreview(drawable, scheme);
    return withSchemeLogo({ ...page, style: `${page.style}\n${schemeStyle(drawable, shown)}` }, shown);
  }, [formId, settings, elements, scheme]);
  if (!result.ok)
    return (
      <EmptyState icon="warning" title="Not ready to preview">
        <p>The form is incomplete: {result.errors[0]?.message} The design view shows where.</p>
      </EmptyState>
    );
  return (
    <div className="preview-ground">
      <PageFrame form={result.form} settings={trial} look={look} width={width} />
    </div>
  );
}

/**
 * Lets the author try the form as visitors will see it. Answers are checked but never stored (docs/rules.md
 * B6).
 */
export function PreviewView(props: Pick<PageProps, 'root' | 'formId' | 'settings'>): ReactElement {
  const [width, setWidth] = useState<(typeof widths)[number]['id']>('desktop');
  const [round, setRound] = useState(0);
  const chosen = widths.find(({ id }) => id === width)!;
  return (
    <div className="preview">
      <div className="preview-bar">
        <div className="preview-widths" role="group" aria-label="Width">
          {widths.map(({ id, label, icon }) => (
            <button
              key={id}
              type="button"
              className="view-tab"
              aria-pressed={id === width}
              onClick={() => setWidth(id)}
            >
              <Icon name={icon} />
              {label}
            </button>
          ))}
        </div>
        <span className="soft small">Preview: your entries are checked but never saved.</span>
        <Button size="small" icon="refresh" onPress={() => setRound(round + 1)}>
          Start over
        </Button>
      </div>
      <FormPage {...props} key={round} width={chosen.width} />
    </div>
  );
}
