import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { isBlank } from '#ast/basics/text.ts';
import { createWorkBudget, TooMuchWork } from '#ast/basics/work.ts';
import { fieldName } from '#ast/form/fields.ts';
import { withPipedLabels } from '#ast/form/piping.ts';
import { answerKindOf, type InputElement, listQuestions, type Question } from '#ast/form/tree.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { ApiProblem } from '../../../api/client.ts';
import { Button, IconButton } from '../../../design/button.tsx';
import { localDayOf } from '../../../design/day.ts';
import { Form } from '../../../design/form.tsx';
import { AnswerField } from './answer-field.tsx';
import {
  EditErrorMessage,
  type EditProps,
  mergePatchOf,
  UnsavedGuard,
  useFinishEdit,
  useSubmissionChange,
} from './use-change.tsx';

type Draft = Readonly<Record<string, unknown>>;
type Group = Extract<Question, { kind: 'group' }>;

/**
 * Edits the answers with the form version that was answered. Problems are shown at their fields, and the
 * first field with a problem gets the focus.
 */
export function AnswersForm({ form, submission, onDone }: EditProps): ReactElement {
  const [begun, setBegun] = useState(() => ({
    ...submission,
    structure: withPipedLabels(submission.structure),
  }));
  const questions = useMemo(() => listQuestions(begun.structure), [begun]);
  const [draft, setDraft] = useState<Draft>(begun.answers);
  const { noteSent, end } = useFinishEdit(draft, {
    onDone,
    goOn: ({ answers }) => setBegun({ ...begun, answers }),
  });
  const change = useSubmissionChange(form, begun, {
    onDone: end,
    describeDone: ({ unasked }) => describeKeptAnswers(questions, unasked),
  });
  const isDirty = JSON.stringify(draft) !== JSON.stringify(begun.answers);
  const element = useRef<HTMLFormElement>(null);
  const unasked = useMemo(() => findHiddenQuestions(begun, questions, draft), [begun, questions, draft]);
  const problem = change.error instanceof ApiProblem ? change.error : undefined;
  useEffect(() => {
    if (problem?.errors.length) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problem]);
  const put = (id: string, value: unknown): void => setDraft((before) => ({ ...before, [id]: value }));
  const problemOf = (field: string): string | undefined => problem?.of(field);
  return (
    <Form
      ref={element}
      className="answers-form"
      aria-label="Edit answers"
      isPending={change.isPending}
      onSubmit={() => {
        noteSent();
        change.mutate({ answers: mergePatchOf(begun.answers, toSend(questions, draft)) });
      }}
    >
      {questions.map((question) => {
        const { id } = question.element.attrs;
        return question.kind === 'input' ? (
          <AnswerField
            key={id}
            input={question.element}
            value={getProperty(draft, id)}
            error={problemOf(id)}
            note={unasked.has(id) ? hiddenQuestionNote : undefined}
            onChange={(value) => put(id, value)}
          />
        ) : (
          <RowsField
            key={id}
            question={question}
            value={getProperty(draft, id)}
            problemOf={problemOf}
            note={unasked.has(id) ? hiddenQuestionNote : undefined}
            onChange={(rows) => put(id, rows)}
          />
        );
      })}
      {change.error && <EditErrorMessage error={change.error} onDiscard={onDone} />}
      <UnsavedGuard isDirty={isDirty} />
      <div className="panel-save">
        <Button onPress={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" isPending={change.isPending}>
          Save answers
        </Button>
      </div>
    </Form>
  );
}

/** Shown at an answer whose question is hidden because of other answers. */
const hiddenQuestionNote = 'The other answers hide this question. Its answer is kept until you remove it.';

/**
 * Finds answered questions that are hidden because of other answers. It uses the reader's date, so conditions
 * on today can have a different result on the service, which reports what it kept.
 */
function findHiddenQuestions(
  { structure, reference }: SubmissionDetail,
  questions: readonly Question[],
  draft: Draft,
): ReadonlySet<string> {
  try {
    const context = { reference, today: localDayOf(new Date()), work: createWorkBudget() };
    const shown = evaluateVisibility(structure, toSend(questions, draft), context);
    const isUnasked = ({ element }: Question): boolean =>
      !shown.isShown(element) && !isBlank(getProperty(draft, element.attrs.id));
    return new Set(questions.filter(isUnasked).map(({ element }) => element.attrs.id));
  } catch (error) {
    // The service refuses to check these answers and says so when they are saved.
    if (error instanceof TooMuchWork) return new Set();
    throw error;
  }
}

function describeKeptAnswers(questions: readonly Question[], unasked: readonly string[]): string {
  if (unasked.length === 0) return 'Saved.';
  const labels = questions
    .filter(({ element }) => unasked.includes(element.attrs.id))
    .map(({ element }) => `“${element.attrs.label}”`);
  return `Saved. These hidden answers were kept: ${labels.join(', ')}.`;
}

type RowsProps = {
  question: Group;
  value: unknown;
  problemOf: (field: string) => string | undefined;
  note: string | undefined;
  onChange: (rows: readonly Draft[]) => void;
};

/** Edits the rows of a repeatable group. */
function RowsField({ question, value, problemOf, note, onChange }: RowsProps): ReactElement {
  const group = question.element;
  const rows: readonly Draft[] = Array.isArray(value) ? (value as readonly unknown[]).filter(isRecord) : [];
  const error = problemOf(group.attrs.id);
  return (
    <fieldset className="rows-field">
      <legend className="field-label">{group.attrs.label}</legend>
      {note && <span className="field-description">{note}</span>}
      {rows.map((row, index) => (
        <div key={index} className="rows-row" role="group" aria-label={`${group.attrs.label} ${index + 1}`}>
          <div className="spread">
            <span className="soft small">{index + 1}</span>
            <IconButton
              icon="remove"
              size="small"
              label={`Remove row ${index + 1} of ${group.attrs.label}`}
              onPress={() => onChange(rows.filter((_, other) => other !== index))}
            />
          </div>
          {question.inputs.map((input) => (
            <AnswerField
              key={input.attrs.id}
              input={input}
              value={getProperty(row, input.attrs.id)}
              error={problemOf(fieldName(input, { group, index }))}
              onChange={(changed) =>
                onChange(
                  rows.map((other, at) => (at === index ? { ...other, [input.attrs.id]: changed } : other)),
                )
              }
            />
          ))}
        </div>
      ))}
      {error && <span className="field-error">{error}</span>}
      <Button size="small" icon="add" onPress={() => onChange([...rows, {}])}>
        Add row
      </Button>
    </fieldset>
  );
}

/** Converts the draft for the API: typed numbers become numbers, files are referenced by ID. */
function toSend(questions: readonly Question[], draft: Draft): Record<string, unknown> {
  return Object.fromEntries(
    questions.flatMap((question): [string, unknown][] => {
      const { id } = question.element.attrs;
      const value = getProperty(draft, id);
      if (value === undefined) return [];
      if (question.kind === 'input') return [[id, sentValue(question.element, value)]];
      const rows = Array.isArray(value) ? (value as readonly unknown[]).filter(isRecord) : [];
      return [
        [
          id,
          rows.map((row) =>
            Object.fromEntries(
              question.inputs.map((input) => [
                input.attrs.id,
                sentValue(input, getProperty(row, input.attrs.id)),
              ]),
            ),
          ),
        ],
      ];
    }),
  );
}

function sentValue(input: InputElement, value: unknown): unknown {
  const kind = answerKindOf(input);
  if (kind === 'files')
    return Array.isArray(value) ? (value as readonly { id: string }[]).map((file) => file.id) : undefined;
  // Text that is not a number is sent unchanged, so that the service reports the error.
  if (kind !== 'number' || typeof value !== 'string' || value.trim() === '') return value;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}
