import './json.css';
import { type ReactElement, useMemo, useRef } from 'react';
import { Button } from '../design/button.tsx';
import { CopyButton } from '../design/copy-button.tsx';
import { Message } from '../design/message.tsx';
import { checkJson, type JsonProblem } from './check-json.ts';
import { editWithUndoToast, useBuilder, useEditorState } from './editor/use-editor.ts';
import { replaceContent } from './model/edit.ts';
import { type EditNode, toStructure } from './model/edit-node.ts';

/** JSON text that is not applied yet, and the form as it was when editing of the text began. */
export type JsonDraft = { readonly text: string; readonly begunOn: EditNode };

/** The form as the API accepts it, to read and edit. Applying it is one step that undo reverts. */
export function JsonView({
  draft,
  onDraft,
}: {
  draft: JsonDraft | undefined;
  onDraft: (draft: JsonDraft | undefined) => void;
}): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  const current = useMemo(() => JSON.stringify(toStructure(root), undefined, 2), [root]);
  const area = useRef<HTMLTextAreaElement>(null);
  const text = draft?.text ?? current;
  const checked = useMemo(() => checkJson(text), [text]);
  const isChanged = text !== current;

  const apply = (): void => {
    if (!checked.root) return;
    const { root: read } = checked;
    const put = (): void =>
      editor.change((old) => ({ root: replaceContent(old, read), select: old.key, message: 'Applied' }));
    // Keeps the text until the user has confirmed the edit.
    editWithUndoToast(editor, put, 'JSON applied to the working copy.', () => onDraft(undefined));
  };
  const show = ({ offset }: JsonProblem): void => {
    if (offset === undefined || !area.current) return;
    area.current.focus();
    area.current.setSelectionRange(offset, offset);
    const line = text.slice(0, offset).split('\n').length;
    area.current.scrollTop = Math.max(0, (line - 4) * (area.current.scrollHeight / text.split('\n').length));
  };
  return (
    <div className="builder-page json-page">
      <div className="stack">
        <div className="spread">
          <div>
            <h2>JSON</h2>
            <p className="soft">
              The value of <code>structure</code> in the API. Apply your changes to update the working copy.
            </p>
          </div>
          <div className="row">
            <CopyButton text={text} />
            <Button isDisabled={!isChanged} onPress={() => onDraft(undefined)}>
              Discard
            </Button>
            <Button variant="primary" isDisabled={!isChanged || !checked.root || isReadOnly} onPress={apply}>
              Apply
            </Button>
          </div>
        </div>
        {isChanged && draft && draft.begunOn !== root && (
          <Message tone="warn" title="The form has changed since you started editing this JSON">
            Applying it overwrites those changes. You can undo this.
          </Message>
        )}
        {checked.problems.length > 0 && (
          <Message
            tone={checked.root ? 'warn' : 'bad'}
            title={
              checked.root ? 'This JSON can be applied, but not published yet' : 'This JSON cannot be applied'
            }
          >
            <ul className="json-problems">
              {checked.problems.slice(0, 20).map((problem, index) => (
                <li key={index}>
                  <button type="button" className="link-button" onClick={() => show(problem)}>
                    {problem.where}
                  </button>{' '}
                  {problem.message}
                </li>
              ))}
            </ul>
          </Message>
        )}
        <textarea
          ref={area}
          className="field-input json-text"
          aria-label="Form as JSON"
          spellCheck={false}
          readOnly={isReadOnly}
          value={text}
          onChange={(event) => onDraft({ text: event.target.value, begunOn: draft?.begunOn ?? root })}
        />
      </div>
    </div>
  );
}
