import './formula-input.css';
import { type ReactElement, type ReactNode, useRef } from 'react';
import { havePoints } from '#ast/basics/options.ts';
import { placeOfProblem } from '#ast/logic/formula/formula-problem.ts';
import { namesIn } from '#ast/logic/formula/parse.ts';
import { SentenceText } from '../../conditions/sentence-text.tsx';
import { Button } from '../../design/button.tsx';
import { TextArea } from '../../design/field.tsx';
import { Menu } from '../../design/menu.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { findNode, textOf } from '../model/edit-node.ts';
import { listReckonable, listShowable } from '../model/nameable.ts';
import { sayFormula } from '../model/say-logic.ts';
import './insert-answer.css';

type FormulaProps = {
  readonly label: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (formula: string) => void;
};

/** A formula: what is wrong with it and where, the elements that it may name, and what functions there are. */
export function FormulaInput({ label, value, error, onChange }: FormulaProps): ReactElement {
  const { isReadOnly } = useBuilder();
  const area = useRef<HTMLTextAreaElement>(null);
  // What was selected stays so while a menu has the focus.
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
        description="A number from other answers, such as round({price} * {people}, 2)."
        value={value}
        onChange={onChange}
        error={error}
        inputRef={area}
        rows={3}
        spellCheck="false"
      />
      {error === undefined && <Said formula={value} />}
      {error !== undefined && value !== '' && <Place formula={value} message={error} />}
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

/** The formula with the labels of what it names, as the canvas has it. */
function Said({ formula }: { formula: string }): ReactElement | null {
  const { editor } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  if (namesIn(formula).length === 0) return null;
  return (
    <p className="field-description">
      <SentenceText sentence={sayFormula(root, formula)} />
    </p>
  );
}

/** The formula with a mark where the problem is. It repeats what the error says, for the eye alone. */
function Place({ formula, message }: { formula: string; message: string }): ReactElement | null {
  const at = placeOfProblem(message);
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

/** Offers what may be named; what is asked in rows as what is summed up over them. */
function InsertElement({ onInsert }: { onInsert: (text: string) => void }): ReactElement | null {
  const { editor } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const node = findNode(root, selection);
  const named = node ? listReckonable(root, node) : [];
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

/** What is inserted, and what it does. docs/form-language.md has all of them. */
const functions = [
  { id: 'if( = , , )', label: 'if', description: 'One value or another, by a comparison' },
  {
    id: 'sum()',
    label: 'sum',
    description: 'All together, over rows too; likewise min, max, average, count',
  },
  { id: 'round(, 2)', label: 'round', description: 'To decimals; likewise floor, ceil, abs' },
  { id: 'points({})', label: 'points', description: 'What chosen options count' },
  { id: 'answered({})', label: 'answered', description: 'Whether there is an answer' },
  {
    id: 'includes({}, "")',
    label: 'includes',
    description: 'Whether an option is chosen, or a text has a part',
  },
  { id: 'length({})', label: 'length', description: 'Characters of a text' },
  { id: 'age({})', label: 'age', description: 'Whole years from a date to today' },
  { id: 'days_between({}, today())', label: 'days_between', description: 'Days from one date to another' },
  {
    id: 'minutes_between({}, {})',
    label: 'minutes_between',
    description: 'Minutes from one time to another',
  },
  { id: 'year({})', label: 'year', description: 'Of a date; likewise month, day, weekday (1 is Monday)' },
] as const;

type InsertProps = {
  /** Whether the text is of the selected part, and not of the whole form's settings. */
  readonly isOfPart: boolean;
  /** Takes the placeholder: `{{name}}`. */
  readonly onInsert: (placeholder: string) => void;
  /** The field of the text. */
  readonly children: ReactNode;
};

/** A text's field, which offers beside its label the answers that the text may show, where there are any. */
export function InsertAnswer({ isOfPart, onInsert, children }: InsertProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const part = isOfPart ? findNode(root, selection) : undefined;
  const questions = isOfPart && !part ? [] : listShowable(root, part);
  // The same around the field whether there are any: one that were put into another place would lose its focus in mid-word.
  return (
    <div className="insertable">
      {children}
      {questions.length > 0 && !isReadOnly && (
        <Menu
          items={questions.map((question) => ({
            id: textOf(question, 'id'),
            label: textOf(question, 'label'),
            description: `{{${textOf(question, 'id')}}}`,
            onAction: () => onInsert(`{{${textOf(question, 'id')}}}`),
          }))}
        >
          <Button size="small" variant="quiet" icon="add" aria-label="Insert an answer">
            Answer
          </Button>
        </Menu>
      )}
    </div>
  );
}
