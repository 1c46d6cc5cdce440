import type { ReactNode } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { directionOf } from '#ast/basics/language-tags.ts';
import { formatSentence } from '../../conditions/describe-condition.ts';
import type { Editor } from '../editor/editor.ts';
import type { EditorState } from '../editor/editor-state.ts';
import { describeNode } from '../model/compare.ts';
import { describeLogic } from '../model/describe-logic.ts';
import { type EditNode, type NodeKey, textOf } from '../model/edit-node.ts';
import { formatPosition } from '../model/node-positions.ts';
import { CanvasNode, StaticMarkup, serializeSentences } from './canvas-node.tsx';
import type { PublishedNames } from './edit-text.ts';
import {
  type CanvasPageContext,
  elementMarkup,
  type Markup,
  type PageMarkup,
  renderFormPages,
} from './page-markup.ts';

/** What the canvas shows in addition to the form. */
type CanvasView = {
  readonly state: EditorState;
  readonly editor: Editor;
  readonly problems: ReadonlyMap<NodeKey, readonly string[]>;
  readonly names: PublishedNames;
  readonly manner: CanvasPageContext;
  /** Opens the element menu for an empty step or group. */
  onFill(parent: NodeKey, button: HTMLElement): void;
};

/** The whole form as visitors see it, page by page. Every node can be selected. */
export function CanvasForm(view: CanvasView): ReactNode {
  const { root } = view.state.history.present;
  const { language } = view.manner.texts;
  return (
    <div className="canvas-container">
      <div className="canvas-body" lang={language} dir={directionOf(language)}>
        {renderFormPages(root, view.manner).map((markup, index) => (
          <CanvasPage key={root.children[index]?.key ?? index} view={view} markup={markup} index={index} />
        ))}
      </div>
    </div>
  );
}

/**
 * A page of the canvas. The form's name can be edited only on the first page, and the review page is not a
 * node.
 */
function CanvasPage({
  view,
  markup,
  index,
}: {
  view: CanvasView;
  markup: PageMarkup;
  index: number;
}): ReactNode {
  const { root } = view.state.history.present;
  const step = root.children[index];
  return (
    <div className="canvas-page">
      {staticMarkupOf(markup.pictures)}
      {index === 0 ? (
        <CanvasNode
          node={root}
          markup={markup.header}
          {...common(view)}
          {...nodeLookOf(view, root, 'Form')}
        />
      ) : (
        <StaticMarkup markup={markup.header} />
      )}
      <form>
        {index > 0 && <section className="step" hidden />}
        {staticMarkupOf(markup.before)}
        {step ? (
          <CanvasNode
            node={step}
            markup={markup.step}
            {...common(view)}
            {...nodeLookOf(view, step, formatPosition({ parent: root, index, stepNumber: index + 1 }))}
          >
            <Children view={view} parent={step} stepNumber={index + 1} heading={headingIn(root, step)} />
          </CanvasNode>
        ) : (
          <StaticMarkup markup={markup.step} />
        )}
        <StaticMarkup markup={markup.actions} />
      </form>
    </div>
  );
}

const staticMarkupOf = (markups: readonly Markup[]): ReactNode =>
  markups.map((markup) => <StaticMarkup key={markup.className || markup.localName} markup={markup} />);

const common = ({ editor, names }: CanvasView) => ({ editor, names });

/** One heading level below the step's heading, as on the public page. */
const headingIn = (root: EditNode, step: EditNode): 'h2' | 'h3' =>
  textOf(step, 'title') || root.children.length > 1 ? 'h3' : 'h2';

type ChildrenProps = { view: CanvasView; parent: EditNode; stepNumber: number; heading: 'h2' | 'h3' };

function Children({ view, parent, stepNumber, heading }: ChildrenProps): ReactNode {
  if (parent.children.length === 0) return <EmptySlot view={view} parent={parent} />;
  return parent.children.map((node, index) => (
    <CanvasNode
      key={node.key}
      node={node}
      markup={elementMarkup(node, heading, view.manner)}
      {...common(view)}
      {...nodeLookOf(view, node, formatPosition({ parent, index, stepNumber }))}
    >
      {node.type === 'composite' ? (
        <Children view={view} parent={node} stepNumber={stepNumber} heading={heading} />
      ) : undefined}
    </CanvasNode>
  ));
}

function EmptySlot({ view, parent }: { view: CanvasView; parent: EditNode }): ReactNode {
  return (
    <button
      type="button"
      className="empty-slot"
      data-empty={parent.key}
      onClick={(event) => {
        event.stopPropagation();
        view.onFill(parent.key, event.currentTarget);
      }}
    >
      {parent.type === 'step'
        ? 'This step is empty. Add an element.'
        : 'This group is empty. Add an element.'}
    </button>
  );
}

function nodeLookOf({ state, problems }: CanvasView, node: EditNode, place: string) {
  const { selection, also } = state.history.present;
  const found = problems.get(node.key)?.length ?? 0;
  const wrong = found === 0 ? '' : `, ${formatCount(found, 'problem')}`;
  const logic = describeLogic(state.history.present.root, node);
  const rules = logic.map((sentence) => `. ${formatSentence(sentence)}`).join('');
  return {
    isSelected: node.key === selection || (also?.includes(node.key) ?? false),
    isTabStop: node.key === selection,
    isLifted: state.lifted?.key === node.key,
    writing: state.editing?.key === node.key ? state.editing : undefined,
    words: `${describeNode(state.history.present.root, node)}, ${place}${wrong}${rules}`,
    hasProblem: found > 0,
    logic: serializeSentences(logic),
  };
}
