import { pipedIds } from '#ast/form/piping.ts';
import { fillLabels } from '../../conditions/condition-tree.ts';
import { PipedText } from '../../design/author-text.tsx';
import { finderIn } from '../model/form-index.ts';
import './formula-input.css';
import { type ReactElement, type ReactNode, useRef } from 'react';
import { havePoints } from '#ast/basics/options.ts';
import { problemPosition } from '#ast/logic/formula/formula-problem.ts';
import { findFormulaNames } from '#ast/logic/formula/parse.ts';
import { SentenceText } from '../../conditions/condition-editor.tsx';
import { Button } from '../../design/button.tsx';
import { TextArea } from '../../design/field.tsx';
import { Menu } from '../../design/menu.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { formatFormula } from '../model/describe-logic.ts';
import { findNode, textOf } from '../model/edit-node.ts';
import { listFormulaNodes, listShowableQuestions } from '../model/referable-nodes.ts';
import './insert-answer.css';

type FormulaProps = {
  readonly label: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (formula: string) => void;
};

/** A formula field: shows the problem and its position, the available elements, and the functions. */
export function FormulaInput({ label, value, error, onChange }: FormulaProps): ReactElement {
  const { isReadOnly } = useBuilder();
  const area = useRef<HTMLTextAreaElement>(null);
  // The selected text stays selected while a menu has focus.
  const insert = (text: string): void => {
    const { selectionStart: from, selectionEnd: to } = area.current ?? {
      selectionStart: value.length,
      selectionEnd: value.length,
    };
    onChange(`${value.slice(0, from)}${text}${value.slice(to)}`);
  };
  return (
    <div className="stack-tight formula-input">
      <TextArea
        label={label}
        description="A number calculated from other answers, such as round({price} * {people}, 2)."
        value={value}
        onChange={onChange}
        error={error}
        inputRef={area}
        rows={3}
        spellCheck="false"
      />
      {error === undefined && <Said formula={value} />}
      {error !== undefined && value !== '' && <FormulaProblem formula={value} message={error} />}
      {!isReadOnly && (
        <div className="row">
          <InsertElement onInsert={insert} />
          <Menu items={functions.map((item) => ({ ...item, onAction: () => insert(item.id) }))}>
            <Button size="small" icon="add">
              Function
            </Button>
          </Menu>
        </div>
      )}
    </div>
  );
}

/** Shows the formula with element labels, as on the canvas. */
function Said({ formula }: { formula: string }): ReactElement | null {
  const { editor } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  if (findFormulaNames(formula).length === 0) return null;
  return (
    <p className="field-description">
      Reads: <SentenceText sentence={formatFormula(root, formula)} />
    </p>
  );
}

/**
 * Shows the formula with the problem highlighted. Hidden from screen readers, because it repeats the error
 * message.
 */
function FormulaProblem({ formula, message }: { formula: string; message: string }): ReactElement | null {
  const at = problemPosition(message);
  if (at === undefined) return null;
  const [marked = ' '] = /^(?:\{[^}]*\}?|\w+|"[^"]*"?|.)/s.exec(formula.slice(at)) ?? [];
  return (
    <p className="formula-place" aria-hidden="true">
      {formula.slice(0, at)}
      <mark>{marked}</mark>
      {formula.slice(at + marked.length)}
    </p>
  );
}

/** Offers the elements that the formula may refer to. For answers in rows, their sum is inserted. */
function InsertElement({ onInsert }: { onInsert: (text: string) => void }): ReactElement | null {
  const { editor } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const node = findNode(root, selection);
  const named = node ? listFormulaNodes(root, node) : [];
  if (named.length === 0) return null;
  const items = named.map(({ node: element, rows }) => {
    const name = `{${textOf(element, 'id')}}`;
    const one =
      element.type === 'composite' ? `count(${name})` : havePoints(element.attrs) ? `points(${name})` : name;
    const text = rows ? `sum(${one})` : one;
    return {
      id: textOf(element, 'id'),
      label: textOf(element, 'label'),
      description: text,
      onAction: () => onInsert(text),
    };
  });
  return (
    <Menu items={items}>
      <Button size="small" icon="add">
        Answer
      </Button>
    </Menu>
  );
}

/** The text to insert, and a description. docs/form-language.md lists all functions. */
const functions = [
  { id: 'if( = , , )', label: 'if', description: 'Chooses between two values by a condition' },
  { id: 'sum()', label: 'sum', description: 'Adds values, including rows; also min, max, average, count' },
  { id: 'round(, 2)', label: 'round', description: 'Rounds to decimal places; also floor, ceil, abs' },
  { id: 'points({})', label: 'points', description: 'Points of the chosen options' },
  { id: 'answered({})', label: 'answered', description: 'Whether a question is answered' },
  {
    id: 'includes({}, "")',
    label: 'includes',
    description: 'Whether an option is chosen, or text contains other text',
  },
  { id: 'length({})', label: 'length', description: 'Number of characters in a text' },
  { id: 'age({})', label: 'age', description: 'Full years from a date until today' },
  { id: 'days_between({}, today())', label: 'days_between', description: 'Days between two dates' },
  { id: 'minutes_between({}, {})', label: 'minutes_between', description: 'Minutes between two times' },
  { id: 'year({})', label: 'year', description: 'Year of a date; also month, day, weekday (1 is Monday)' },
] as const;

type InsertProps = {
  /** Whether the text belongs to the selected node, not to the form's settings. */
  readonly isOfPart: boolean;
  /** Other placeholders than answers, with their labels. */
  readonly more?: Readonly<Record<string, string>>;
  /** Inserts a placeholder: `{{name}}`. */
  readonly onInsert: (placeholder: string) => void;
  /** The text field. */
  readonly children: ReactNode;
};

/** A text field with a menu of answers that the text can show, if any exist. */
export function InsertAnswerMenu({ isOfPart, more = {}, onInsert, children }: InsertProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const part = isOfPart ? findNode(root, selection) : undefined;
  const questions = isOfPart && !part ? [] : listShowableQuestions(root, part);
  const shown = [
    ...questions.map((question) => [textOf(question, 'id'), textOf(question, 'label')] as const),
    ...Object.entries(more),
  ];
  // The wrapper is always rendered. Otherwise, moving the field to another parent would remove its focus
  // while someone types.
  return (
    <div className="insertable">
      {children}
      {shown.length > 0 && !isReadOnly && (
        <Menu items={shown.map(([id, label]) => ({ id, label, onAction: () => onInsert(`{{${id}}}`) }))}>
          <Button size="small" variant="quiet" icon="add" aria-label="Insert an answer">
            Answer
          </Button>
        </Menu>
      )}
    </div>
  );
}

/** Shows, below a field, how its text reads: with the labels of the questions whose answers it shows. */
export function PipedReading({ text }: { text: string }): ReactElement | null {
  const { editor } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  if (pipedIds(text).length === 0) return null;
  return (
    <p className="piped-reading soft small">
      Reads: <PipedText text={fillLabels(text, finderIn(root))} />
    </p>
  );
}
