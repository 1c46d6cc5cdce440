import './property-panel.css';
import {
  type FocusEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import type { Option } from '#ast/basics/options.ts';
import {
  type ElementType,
  elementDefinitions,
  type InputType,
  showsPlaceholder,
  stepAttributes,
} from '#ast/form/elements.ts';
import { PipedText } from '../../design/author-text.tsx';
import { Button } from '../../design/button.tsx';
import { Switch } from '../../design/checkbox.tsx';
import { Message } from '../../design/message.tsx';
import { Select } from '../../design/select.tsx';
import { addStep } from '../editor/commands.ts';
import type { Editor } from '../editor/editor.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { describeNode, titleOfType } from '../model/compare.ts';
import { changeType, setAttribute, setId, setLabel, setOptions } from '../model/edit.ts';
import { type EditNode, findNode, isQuiz, type NodeKey, pathToNode, textOf } from '../model/edit-node.ts';
import { attributeSpecsOfNode, rewriteProblem } from '../model/form-problems.ts';
import { convertibleTypes } from '../model/new-element.ts';
import { selectedNodes } from '../model/node-positions.ts';
import { listConditionNodes } from '../model/referable-nodes.ts';
import { nodeCommands } from '../shortcuts/builder-commands.ts';
import { useNodeCommandTarget } from '../shortcuts/use-shortcuts.ts';
import { AttributeField } from './attribute-field.tsx';
import { JumpsField } from './logic.tsx';
import { groupAttributesBySection, type PanelSectionName } from './sections.ts';

const none: ReadonlySet<string> = new Set();

type PanelProps = { readonly problems: ProblemsByKey; readonly onLeave: (name: string) => void };

/** Edits all attributes of the selected node, generated from its row in the table of elements. */
export function PropertyPanel({ problems, onLeave }: PanelProps): ReactElement {
  const { editor, lockedIds, publishedOptions } = useBuilder();
  const { history, focus } = useEditorState(editor);
  const { root, selection } = history.present;
  const node = findNode(root, selection) ?? root;
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focus?.part === 'panel')
      panel.current?.querySelector<HTMLElement>('input, textarea, button')?.focus();
  }, [focus]);

  const parts = selectedNodes(history.present);
  const found = problems.get(node.key) ?? [];
  const inField = new Set<string>();
  const errorOf = (name: string): string | undefined => {
    const messages = found.filter((message) => isProblemOf(message, name));
    for (const message of messages) inField.add(message);
    return messages.length > 0
      ? messages.map((message) => rewriteProblem(message, node)).join(' ')
      : undefined;
  };
  const change = (name: string, value: unknown): void =>
    editor.change((tree) => ({ root: setByName(tree, node, name, value, lockedIds) }), `${name} ${node.key}`);
  const shown = groupAttributesBySection(attributeSpecsOfNode(node), (name) => isSeen(root, node, name));
  const fieldsOf = (section: PanelSectionName): ReactElement[] =>
    shown[section].map(([name, spec]) => (
      <div key={`${node.key} ${name}`} className="panel-field" onBlur={whenLeft(() => onLeave(name))}>
        {name === 'jumps' ? (
          <JumpsField title={spec.title} step={node} error={errorOf(name)} />
        ) : (
          <AttributeField
            name={name}
            spec={spec}
            value={node.attrs[name]}
            error={errorOf(name)}
            published={publishedOptions.get(`${textOf(node, 'id')} ${name}`) ?? none}
            isLocked={name === 'id' && node.type !== 'step' && lockedIds.has(textOf(node, 'id'))}
            onChange={(value) => change(name, value)}
          />
        )}
      </div>
    ));
  const fields = { general: fieldsOf('general'), id: fieldsOf('id') };
  const [quiz, validation, logic] = [fieldsOf('quiz'), fieldsOf('validation'), fieldsOf('logic')];
  const skipping = stepToSkipFrom(root, node);
  const others = found.filter((message) => !inField.has(message));
  if (parts.length > 1)
    return (
      <div className="property-panel" ref={panel}>
        <SeveralParts parts={parts} />
      </div>
    );
  return (
    <div key={node.key} className="property-panel" ref={panel} onBlur={editor.endGesture}>
      <h2 className="pane-title">{titleOfPanel([node])}</h2>
      {others.map((message) => (
        <Message key={message} tone="warn">
          {rewriteProblem(message, node)}
        </Message>
      ))}
      <TypeField node={node} />
      {fields.general}
      {quiz.length > 0 && <PanelSection title="Quiz">{quiz}</PanelSection>}
      {validation.length > 0 && <PanelSection title="Validation">{validation}</PanelSection>}
      {logic.length > 0 && (
        <PanelSection title="Logic">
          {logic}
          {skipping && <JumpsField title={stepAttributes.jumps.title} step={skipping} about={node} />}
        </PanelSection>
      )}
      {fields.id}
      <NodeActions parts={node === root ? [] : [node]} />
    </div>
  );
}

/** Returns the step of a question whose answer can decide where visitors go next, if there is a choice. */
function stepToSkipFrom(root: EditNode, node: EditNode): EditNode | undefined {
  const [, step] = pathToNode(root, node.key);
  if (!step || step === node || step === root.children.at(-1)) return undefined;
  return listConditionNodes(root, step, 'jumps').some(({ key }) => key === node.key) ? step : undefined;
}

/** Returns a blur handler that runs `then` if the focus moved elsewhere, but not into a menu of the field. */
const whenLeft =
  (then: () => void) =>
  ({ currentTarget }: FocusEvent<HTMLElement>): void =>
    void requestAnimationFrame(() => {
      const { activeElement } = document;
      const isInside = currentTarget.contains(activeElement) || activeElement?.closest('.popover');
      if (activeElement !== document.body && !isInside) then();
    });

/**
 * Whether an attribute has an effect on the page. For example, a column width only has one in a grid. An
 * attribute with a value is always shown.
 */
function isSeen(root: EditNode, node: EditNode, name: string): boolean {
  if (node.attrs[name] !== undefined) return true;
  if (name === 'placeholder') return showsPlaceholder(node.type as InputType);
  if (name === 'correct') return isQuiz(root);
  if (name === 'points' || name === 'explanation') return node.attrs['correct'] !== undefined;
  return (
    name !== 'col_span' || String(pathToNode(root, node.key).at(-2)?.attrs['layout']).startsWith('grid_')
  );
}

/**
 * Sets an attribute and updates what depends on it: the id follows the label, and references follow ids and
 * options.
 */
function setByName(
  root: EditNode,
  { key }: EditNode,
  name: string,
  value: unknown,
  lockedIds: ReadonlySet<string>,
): EditNode {
  if (name === 'label' && typeof value === 'string') return setLabel(root, key, value, lockedIds);
  if (name === 'id') return setId(root, key, typeof value === 'string' ? value : undefined);
  if ((name === 'options' || name === 'rows') && Array.isArray(value))
    return setOptions(root, key, value as readonly Option[], name);
  return setAttribute(root, key, name, value);
}

function PanelSection({ title, children }: { title: string; children: ReactNode }): ReactElement {
  return (
    <section className="panel-section" aria-label={title}>
      <h3 className="pane-heading">{title}</h3>
      {children}
    </section>
  );
}

/** Changes the type of a question: an input to another input, a text to another text. */
function TypeField({ node }: { node: EditNode }): ReactElement | null {
  const { editor } = useBuilder();
  const types = convertibleTypes(node.type);
  if (types.length === 0) return null;
  return (
    <Select
      label="Type"
      value={node.type}
      choices={types.map((type) => ({ id: type, label: elementDefinitions[type].title }))}
      onChange={(type) =>
        editor.change((root) => ({ root: changeType(root, node.key, type as ElementType) }))
      }
    />
  );
}

/** The actions for nodes, as in their toolbar. For the form itself, an action that adds a step. */
function NodeActions({ parts }: { parts: readonly EditNode[] }): ReactElement {
  const on = useNodeCommandTarget()({ parts });
  if (parts.length === 0)
    return (
      <Button icon="add" onPress={() => addStep(on.editor)}>
        Add step
      </Button>
    );
  return (
    <div className="row panel-actions">
      {[nodeCommands.merge, nodeCommands.duplicate, nodeCommands.remove]
        .filter(({ appliesTo }) => appliesTo?.(on))
        .map((deed) => (
          <Button
            key={deed.label}
            size="small"
            {...(deed.icon && { icon: deed.icon })}
            onPress={() => deed.perform(on)}
          >
            {deed.label}
          </Button>
        ))}
    </div>
  );
}

/** Returns the title of the panel: the type of the selected node, or the number of nodes. */
export const titleOfPanel = (parts: readonly EditNode[]): string =>
  parts.length === 1 ? titleOfType(parts[0]!.type) : `${formatCount(parts.length, 'part')} selected`;

/** The actions that several nodes have in common. */
function SeveralParts({ parts }: { parts: readonly EditNode[] }): ReactElement {
  const on = useNodeCommandTarget()({ parts });
  const { require } = nodeCommands;
  return (
    <>
      <h2 className="pane-title">{titleOfPanel(parts)}</h2>
      <ul className="soft small several-parts">
        {parts.map((node) => (
          <li key={node.key}>
            <PipedText text={describeNode(on.editor.read().history.present.root, node)} />
          </li>
        ))}
      </ul>
      {require.appliesTo?.(on) && (
        <Switch isSelected={require.isOn?.(on) ?? false} onChange={() => require.perform(on)}>
          {require.label}
        </Switch>
      )}
      <NodeActions parts={parts} />
    </>
  );
}

export type ProblemsByKey = ReadonlyMap<NodeKey, readonly string[]>;

/** Whether a problem is about an attribute of its node. A message about one attribute can mention others. */
const isProblemOf = (message: string, name: string): boolean =>
  (/^"(\w+)" of/.exec(message)?.[1] ?? name) === name &&
  (message.includes(`"${name}"`) || (name === 'id' && message.startsWith('Element ids')));

/**
 * Returns the problems to show. A problem that appears while someone edits a field is shown once they leave
 * the field (`onLeave`) or the node, or open the node from a list of problems.
 */
export function useQuietProblems(
  editor: Editor,
  problems: ProblemsByKey,
): { readonly shown: ProblemsByKey; readonly onLeave: (name: string) => void } {
  const { history, focus } = useEditorState(editor);
  const { root, selection } = history.present;
  const visited = useRef(new Set<NodeKey>());
  const messages = problems.get(selection) ?? [];
  const [known, setKnown] = useState<{ key: NodeKey; messages: readonly string[] }>();
  if (known?.key !== selection) {
    // A new element is incomplete, and its author had no chance to complete it yet.
    const isNew = findNode(root, selection)?.followsLabel === true && !visited.current.has(selection);
    visited.current.add(selection);
    setKnown({ key: selection, messages: isNew ? [] : messages });
  }
  const show = useEffectEvent(() => setKnown({ key: selection, messages }));
  useEffect(() => {
    if (focus?.part === 'panel') show();
  }, [focus]);
  const visible = known?.key === selection ? messages.filter((each) => known.messages.includes(each)) : [];
  return {
    shown: visible.length === messages.length ? problems : new Map([...problems, [selection, visible]]),
    // Another node may already be selected when the focus leaves the field.
    onLeave: (name) =>
      setKnown((now) => {
        if (now?.key !== selection) return now;
        return { ...now, messages: [...visible, ...messages.filter((each) => isProblemOf(each, name))] };
      }),
  };
}
