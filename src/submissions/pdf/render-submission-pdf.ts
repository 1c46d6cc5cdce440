import type { Answers, FileAnswer } from '#ast/answers/check-answers.ts';
import { localeOf } from '#ast/basics/language-tags.ts';
import { fillTemplate, formatDateTime, formatDay } from '#ast/basics/words.ts';
import { languagesOf } from '#ast/form/tree.ts';
import type { Settings } from '#ast/settings.ts';
import { formatSubmissionReference } from '#ast/short-reference.ts';
import { paletteOf } from '#ast/theme/colour.ts';
import { formInLanguage } from '#ast/translations/translations.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { limitConcurrency } from '#kit/concurrency.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { json, jsonb, nullable, requireRow, statement, textEnum, timestamp } from '#kit/statement.ts';
import type { Storage } from '#kit/storage.ts';
import { runInThread } from '#kit/threads/run-in-thread.ts';
import { versionJoin } from '../changes/edit.ts';
import { mapFiles } from '../present.ts';
import { describeStoredQuiz } from '../quiz-result.ts';
import type { SubmissionStatus } from '../submission-rows.ts';
import { describeAnswers, describeCertificate } from './describe-submission.ts';
import type { PaperSize, PdfDocument } from './document.ts';
import { readLogo, readPictures } from './pictures.ts';
import type { renderPdf } from './render-pdf.ts';
import { pdfWords } from './words/words.ts';

/** Selects a submission with everything that its PDF and its quiz result show. */
export const findForPdf = statement('workspace_id id', [
  'form_id language? created_at updated_at',
  {
    status: textEnum<SubmissionStatus>(),
    completed_at: nullable(timestamp),
    answers: json<Answers>(),
    reference: json<Record<string, string>>(),
    fields: json<Parameters<typeof mapFiles>[1]>(),
    structure: effectiveFormColumn,
    settings: jsonb<Settings>(),
  },
])`
  select s.form_id, s.status, s.language, s.created_at, s.updated_at, s.completed_at, s.answers, s.reference, v.fields, v.structure, f.settings
  from submissions s
  ${versionJoin}
  join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
  where s.workspace_id = $workspace_id and s.id = $id and s.trashed_at is null and f.deleted_at is null`;

export type PdfServices = {
  database: Database;
  storage: Storage;
  config: Pick<Config, 'pdfFonts'>;
};

/** Which PDF to render. */
type PdfRequest = {
  readonly workspaceId: string;
  readonly id: string;
  readonly size?: PaperSize | undefined;
  /** Whether to render the certificate of a quiz that was passed, instead of the answers. */
  readonly certificate?: boolean | undefined;
  /** A language of the form (BCP 47). By default, members read the form as written, and visitors in theirs. */
  readonly language?: string | undefined;
  /** Whether the visitor reads it: hidden values and hidden calculations are left out. */
  readonly isForVisitor: boolean;
  /** Checks the form of the submission before anything is rendered. @throws ApiError. */
  readonly requireForm?: (formId: string) => void;
};

/** A PDF takes about 0.5 s. One with a megabyte of answers takes 5 s on a busy machine. */
const threadLimits = { megabytes: 512, ms: 60_000, tooMuch: undefined } as const;

/** Visitors who finish at the same time wait for their PDF instead of seeing an error. */
const tenAtOnce = limitConcurrency(10, { seconds: 5, why: 'This workspace is already rendering 10 PDFs.' });
/** The last PDF of each workspace that is being rendered, or waits. */
const lastPdfs = new Map<string, Promise<RenderedPdf>>();

/** A PDF with the name of its form and the end of its file name. */
export type RenderedPdf = { readonly bytes: Buffer; readonly formName: string; readonly ending: string };

/**
 * Renders a submission as a PDF, in a thread, after the other PDFs of the workspace. Nothing is stored.
 * @throws ApiError not_found, also if there is no certificate; rate_limit_exceeded while ten PDFs of the workspace are rendered or wait;
 * service_unavailable if it takes too long.
 */
export async function renderSubmissionPdf(services: PdfServices, request: PdfRequest): Promise<RenderedPdf> {
  const { workspaceId, id, requireForm } = request;
  const row = requireRow(await findForPdf(services.database, { workspace_id: workspaceId, id }));
  requireForm?.(row.form_id);
  return tenAtOnce.run(workspaceId, async () => {
    const rendered = Promise.allSettled([lastPdfs.get(workspaceId)]).then(() =>
      render(services, request, row),
    );
    lastPdfs.set(workspaceId, rendered);
    try {
      return await rendered;
    } finally {
      if (lastPdfs.get(workspaceId) === rendered) lastPdfs.delete(workspaceId);
    }
  });
}

type SubmissionRow = Awaited<ReturnType<typeof findForPdf>>[number];

async function render(
  services: PdfServices,
  { workspaceId, id, size = 'A4', certificate: isCertificate = false, language, isForVisitor }: PdfRequest,
  row: SubmissionRow,
): Promise<RenderedPdf> {
  const { structure, settings, answers, completed_at } = row;
  const languages = languagesOf(structure);
  const wanted = language ?? (isForVisitor ? (row.language ?? undefined) : undefined);
  const tag = languages.find((each) => each === wanted) ?? languages[0];
  const { locale: setting = 'auto' } = settings;
  const locale = localeOf(tag) ?? (setting === 'auto' ? 'en' : setting);
  const words = pdfWords[locale];
  const files: FileAnswer[] = [];
  if (!isCertificate) mapFiles(answers, row.fields, (file) => files[files.push(file) - 1]!);
  const [logo, pictures] = await Promise.all([
    readLogo(services, workspaceId, settings.theme?.logo),
    readPictures(services, workspaceId, files),
  ]);
  const form = formInLanguage(structure, tag);
  const format = { language: tag ?? locale, numberLocale: tag ?? locale, words };
  const blocks = isCertificate
    ? describeCertificate(form.attrs.name, words, describeStoredQuiz({ ...row, form }, format).certificate)
    : describeAnswers({ form, answers, isForVisitor, format, signed: words.signed, pictures });
  const at = (isCertificate ? formatDay : formatDateTime)(
    completed_at ?? row.updated_at,
    locale,
    settings.time_zone,
  );
  const document: PdfDocument = {
    language: tag ?? locale,
    size,
    accent: paletteOf({ ...settings.theme, mode: 'light' }, 'light').accent,
    isCertificate,
    logo,
    title: isCertificate ? words.certificate : form.attrs.name,
    subtitle: isCertificate ? at : fillTemplate(completed_at ? words.received : words.saved, { date: at }),
    blocks: blocks.length > 0 ? blocks : [{ kind: 'text', text: words.noAnswers }],
    footer: isCertificate ? formatSubmissionReference(id) : words.page,
  };
  const module = new URL('render-pdf.ts', import.meta.url);
  const given: Parameters<typeof renderPdf> = [document, services.config.pdfFonts];
  const bytes = await runInThread<Uint8Array | undefined>(
    `${workspaceId} pdf`,
    { module, name: 'renderPdf', given },
    threadLimits,
  );
  if (!bytes)
    throw new ApiError(
      'service_unavailable',
      'The PDF takes too long. Try again later, or export the submission as CSV or NDJSON.',
    );
  const ending = ` ${formatSubmissionReference(id)}${isCertificate ? ' certificate' : ''}.pdf`;
  return { bytes: Buffer.from(bytes), formName: form.attrs.name, ending };
}
