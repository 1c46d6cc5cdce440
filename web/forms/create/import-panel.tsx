import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useCallback, useMemo, useRef, useState } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import type { ReplyOf } from '#app/operations/operations.ts';
import { isBlank } from '#ast/basics/text.ts';
import { type Form, languagesOf } from '#ast/form/tree.ts';
import { todayIn } from '#ast/rules/today.ts';
import type { Settings } from '#ast/settings.ts';
import { validateStructure } from '#ast/validate.ts';
import { elementStylesOfForm } from '#page/render/elements/element-renderers.ts';
import { renderForm } from '#page/render/form.ts';
import { everythingShown } from '#page/render/view.ts';
import { getPageStyle } from '#page/theme/page-style.ts';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { DrawnPage } from '../../design/drawn-page.tsx';
import { TextArea } from '../../design/field.tsx';
import { readTextFile } from '../../design/files.ts';
import { Message } from '../../design/message.tsx';
import { pageTextsOf, setPageStyle, writePage } from '../../design/page-document.ts';
import { useDebounced } from '../../design/use-debounced.ts';
import { getFileLimits } from '../../shell/session.ts';
import { type ConvertedForm, ImportReport, PastedProblems } from './import-report.tsx';
import type { TextRange } from './json-positions.ts';
import { type NewForm, newFormSettings, useOpenForm } from './new-form-settings.ts';
import { type ForeignForm, type PastedForm, readPastedForm } from './read-pasted-form.ts';

/** An area that accepts a dropped file. */
function FileDrop({ onFile, children }: { onFile: (file: File) => void; children: ReactNode }): ReactElement {
  const [isOver, setOver] = useState(false);
  return (
    <div
      className="file-drop"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (!file) return;
        event.preventDefault();
        onFile(file);
      }}
    >
      {children}
    </div>
  );
}

/** In milliseconds. The preview follows the text after a pause. */
const restMs = 300;

const noSettings: Settings = {};

/** Converts a form of another service, or a text. The result is shown before the form is created. */
const convertedQuery = (workspaceId: string, body: ForeignForm | undefined) =>
  queryOptions({
    queryKey: ['converted form', workspaceId, body],
    queryFn: () => callOperation(workspaceId, 'convertForm', { body: body! }),
    enabled: body !== undefined,
    placeholderData: (before: ConvertedForm | undefined) => (body ? before : undefined),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });

type Props = {
  readonly workspaceId: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onCreate: (form: NewForm) => void;
  readonly isPending: boolean;
  /** Called if a file of a form was only partly imported. */
  readonly onLeftOut: (form: ReplyOf<'unpackForm'>) => void;
};

/**
 * Makes a form from whatever is pasted, dropped or chosen: plain text, CSV, JSON of Formloom or of another
 * service, or a file that Formloom exported. Draws the questions before anything is created.
 */
export function ImportPanel({
  workspaceId,
  text,
  onChange,
  onCreate,
  isPending,
  onLeftOut,
}: Props): ReactElement {
  const open = useOpenForm();
  const client = useQueryClient();
  const area = useRef<HTMLTextAreaElement>(null);
  // JSON that is being typed is incomplete, so its problems are shown after a paste or a press.
  const [isTried, setTried] = useState(false);
  const [source, setSource] = useState<ForeignForm['source']>();
  const [fileProblem, setFileProblem] = useState<string>();
  const typed = useMemo(() => ({ text, source }), [text, source]);
  const settled = useDebounced(typed, restMs);
  const read = useMemo(() => readPastedForm(settled.text, settled.source), [settled]);
  const found = useQuery(convertedQuery(workspaceId, foreignOf(read)));
  const converted = foreignOf(read) ? found.data : undefined;
  const create = useAction({
    async run(body: ForeignForm) {
      const imported = await client.fetchQuery(convertedQuery(workspaceId, body));
      const { structure, settings } = imported;
      const own = { structure, settings: { ...newFormSettings(), ...settings } };
      return callOperation(workspaceId, 'importForm', { body: own });
    },
    onLeave: open,
  });
  const unpack = useAction({
    // Browsers report different media types for the file.
    run: (file: File) =>
      callOperation(workspaceId, 'unpackForm', {
        body: new Blob([file], { type: 'application/gzip' }),
      }),
    onDone: (form) => (form.left_out.length === 0 ? open(form) : onLeftOut(form)),
  });
  const change = (next: string): void => {
    onChange(next);
    setFileProblem(undefined);
    if (isBlank(next)) setSource(undefined);
    setTried(false);
  };
  const loadFile = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    if (await isPackage(file)) return unpack.mutate(file);
    const opened = await readTextFile(file);
    if ('problem' in opened) return setFileProblem(opened.problem);
    change(opened.text);
    setTried(true);
    setSource(/\.csv$/i.test(file.name) ? 'csv' : undefined);
  };
  const submit = (): void => {
    setTried(true);
    const now = readPastedForm(text, source);
    const body = foreignOf(now);
    if (body) create.mutate(body);
    else if (now.ok && 'structure' in now) onCreate({ structure: now.structure, settings: now.settings });
  };
  const problem =
    fileProblem ?? (create.error ?? unpack.error ?? (isTried ? found.error : undefined))?.message;
  return (
    <FileDrop onFile={(file) => void loadFile(file)}>
      {problem !== undefined && <Message tone="bad">{problem}</Message>}
      <TextArea
        label="Questions, CSV or JSON"
        description="Write or paste one question per line: “- ” below it for an option, “*” after a required question, “# ” for a step. Or use CSV, JSON from Formloom, Typeform, Formbricks, Tally, Google Forms or SurveyJS, or a file."
        value={text}
        onChange={change}
        onPaste={() => setTimeout(() => setTried(true))}
        rows={10}
        inputRef={area}
        spellCheck="false"
      />
      {isTried && settled === typed && !read.ok && (
        <PastedProblems problems={read.problems} onGo={(place) => select(area.current, place)} />
      )}
      <Preview read={read} converted={converted} onSource={setSource} />
      <div className="spread import-actions">
        <FileTrigger
          acceptedFileTypes={[
            '.txt',
            '.md',
            '.csv',
            '.json',
            '.gz',
            'text/plain',
            'text/csv',
            'application/json',
          ]}
          onSelect={(files) => void loadFile(files?.[0])}
        >
          <Button icon="file" isPending={unpack.isPending}>
            Choose a file
          </Button>
        </FileTrigger>
        <Button variant="primary" onPress={submit} isPending={isPending || create.isPending}>
          Create form
        </Button>
      </div>
    </FileDrop>
  );
}

function Preview({
  read,
  converted,
  onSource,
}: {
  read: PastedForm;
  converted: ConvertedForm | undefined;
  onSource: (source: ForeignForm['source']) => void;
}): ReactElement | null {
  const own = read.ok && 'structure' in read ? read : undefined;
  const structure = own?.structure ?? converted?.structure;
  const settings = (own ?? converted)?.settings ?? noSettings;
  const checked = useMemo(() => (structure ? validateStructure(structure) : undefined), [structure]);
  if (!checked) return null;
  const source = converted?.source;
  const isText = source === 'plain_text' || source === 'csv';
  return (
    <div className="import-preview">
      {converted && <ImportReport found={converted} />}
      {isText && (
        <div>
          <Button size="small" onPress={() => onSource(source === 'csv' ? 'plain_text' : 'csv')}>
            {source === 'csv' ? 'Read as plain text' : 'Read as CSV'}
          </Button>
        </div>
      )}
      {checked.ok && <FormDrawing form={checked.form} settings={settings} />}
    </div>
  );
}

const foreignOf = (read: PastedForm): ForeignForm | undefined =>
  read.ok && 'foreign' in read ? read.foreign : undefined;

/** Whether a file is compressed, as Formloom exports a form with its versions. Browsers may rename it. */
async function isPackage(file: File): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  return (first === 0x1f && second === 0x8b) || /\.t?gz$/i.test(file.name);
}

/** Selects a range in the text and scrolls to it. */
function select(area: HTMLTextAreaElement | null, { start, end, line }: TextRange): void {
  if (!area) return;
  area.focus();
  area.setSelectionRange(start, end);
  const lineHeight = area.scrollHeight / Math.max(1, area.value.split('\n').length);
  area.scrollTop = Math.max(0, (line - 3) * lineHeight);
}

/** Renders a form with the page renderer. Its images are not in this workspace yet. */
function drawForm(form: Form, settings: Settings): { text: string; style: string } {
  const texts = pageTextsOf(languagesOf(form), settings);
  const { cover: _cover, logo: _logo, logo_dark: _dark, ...theme } = settings.theme ?? {};
  const look = getPageStyle(
    '',
    { theme },
    { isEmbedded: false, language: texts.language, elements: elementStylesOfForm(form) },
  );
  const text = renderForm({
    ...texts,
    form,
    step: 0,
    shown: everythingShown(form.children.map((_, index) => index)),
    look,
    limits: getFileLimits(),
    today: todayIn('UTC', new Date()),
    errors: [],
    files: new Map(),
    values: {},
    action: '#',
  });
  return { text, style: look.style };
}

/** Draws all steps of a form as its page will show them. Nothing can be entered. */
function FormDrawing({ form, settings }: { form: Form; settings: Settings }): ReactElement {
  const draw = useCallback(
    (page: Document): void => {
      const { text, style } = drawForm(form, settings);
      setPageStyle(page, style);
      writePage(page, text);
      for (const step of page.querySelectorAll<HTMLElement>('section')) step.hidden = false;
      for (const control of page.querySelectorAll('.actions, .progress')) control.remove();
    },
    [form, settings],
  );
  return <DrawnPage title="Preview of the form" draw={draw} />;
}
