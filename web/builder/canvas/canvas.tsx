import './canvas.css';
import {
  type ReactElement,
  type ReactNode,
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { createPortal } from 'react-dom';
import type { Settings } from '#ast/settings.ts';
import type { Scheme } from '#ast/theme/colour.ts';
import { stylesheet } from '#page/markup/style.ts';
import { allElementStyles } from '#page/render/elements/element-renderers.ts';
import { languageStyle } from '#page/render/language-switch.ts';
import { getPageStyle } from '#page/theme/page-style.ts';
import { pageTextsOf } from '../../design/page-document.ts';
import { canAnimate } from '../../design/use-swipe-away.ts';
import { useCurrentForm } from '../../shell/session.ts';
import { useColorScheme } from '../../shell/theme.ts';
import type { Editor } from '../editor/editor.ts';
import type { EditorState } from '../editor/editor-state.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import type { EditNode, NodeKey } from '../model/edit-node.ts';
import { drawableFrame } from '../model/form-problems.ts';
import type { Spot } from '../model/node-positions.ts';
import { pipedLabelsOf } from '../model/referable-nodes.ts';
import { chooseSchemeToPreview, drawableTheme, withSchemeLogo } from '../model/theme-choices.ts';
import { overlays } from '../shortcuts/use-shortcuts.ts';
import { CanvasForm } from './canvas-form.tsx';
import type { Drag, StartDrag } from './drag.ts';
import { DragLayer } from './drag-layer.tsx';
import { Overlay } from './overlay.tsx';
import { type CanvasPageContext, findNodeElement } from './page-markup.ts';

/**
 * Adapts a style sheet of the public page to pages inside the canvas. Document selectors become canvas
 * selectors, the window width becomes the canvas width, and the system color scheme becomes the one shown.
 */
function scopeStylesheet(source: string): string {
  return source
    .replaceAll(
      /@media \(prefers-color-scheme: ?dark\) ?\{\s*:root ?\{([^}]*)\}\s*\}/g,
      ':host(:where([data-scheme="dark"])) {$1}',
    )
    .replaceAll(/:root(?=\s*\{)/g, ':host')
    .replaceAll(/@media \((min|max)-width:/g, '@container ($1-width:')
    .replaceAll(/(?<=\d)vw\b/g, 'cqi')
    .replaceAll(/^(\s*)body(?= \{)/gm, '$1.canvas-body')
    .replaceAll(/^(\s*)main(?=[ :])/gm, '$1.canvas-page')
    .replaceAll(/^html \{[^}]*\}$/gm, '');
}

/** Extracts the `@font-face` rules. */
const facesIn = (source: string): string => (source.match(/@font-face\{[^}]*\}/g) ?? []).join('');

/**
 * Styles that the canvas adds to the page, for selected, hovered, lifted, empty, invalid and edited nodes.
 */
const additions = `
:host { display: flex; color-scheme: light; }
:host([data-scheme="dark"]) { color-scheme: dark; }
.canvas-container { container-type: inline-size; flex: 1; min-inline-size: 0; display: flex; }
.canvas-body { flex: 1; min-inline-size: 0; }
.canvas-page + .canvas-page { margin-block-start: var(--6); }
@container (max-width: 639px) { .canvas-page + .canvas-page { box-shadow: 0 calc(-1 * var(--6)) var(--ground); } }
[data-answer], .piped { padding: .0625em .375em; border-radius: .375em; background: var(--tint); box-shadow: inset 0 0 0 1px var(--edge); font-weight: 400; font-size: .875em; }
[data-key] { cursor: default; animation: none; border-radius: .375rem; outline: 1px dashed #0000; outline-offset: 8px; }
[data-key="frame"] { outline: none; }
[data-key]:not([data-selected]):hover:not(:has([data-key]:hover)) { outline-color: var(--edge); }
/* flow-root: the negative margin of a grid would let the outline reach the buttons below. */
section[data-key] { display: flow-root; outline-offset: 14px; border-radius: 0; }
[data-key][data-problem] { outline: 2px dotted var(--bad); }
[data-key][data-selected], [data-key]:focus, [data-key]:focus-visible { outline: 2px solid var(--accent); }
[data-key][data-selected]:focus-visible { outline-width: 3px; }
[data-key][data-lifted] { outline: 3px dashed var(--accent); opacity: .75; }
[data-key][data-selected] > :is(label, legend, h1, h2), :is(h2, h3, p)[data-key][data-selected] { cursor: text; }
.written { display: inline-block; min-inline-size: 1.5ch; max-inline-size: 100%; white-space: pre-wrap; cursor: text; user-select: text; outline: none !important; box-shadow: 0 2px 0 var(--accent); }
.written + .mark { margin-inline-start: .25em; }
.labelled > :focus-within:has(> .written) { outline: none; }
.written:empty::before { content: "\\200b"; }
.written[data-placeholder]:empty::before { content: attr(data-placeholder); color: var(--soft); }
.option, .matrix th { cursor: text; }
.opened {
  position: absolute; z-index: 3; inset-inline: 0; gap: 0; max-block-size: 22rem; overflow: auto; padding: var(--1);
  background: var(--paper); border: 1px solid var(--edge); border-radius: var(--round); box-shadow: 0 .5rem 1.5rem #0003;
}
.opened > .option { min-block-size: 2.5rem; padding-block: .25rem; border: 0; }
.opened:focus-within, .opened > .option:focus-within { outline: none; }
.opened > .option:focus-within { background: var(--tint); }
[data-key]:has(> .opened) { position: relative; z-index: 3; }
[data-blank]:not(:has(.written)) { color: var(--soft); font-style: italic; }
.logic-badge { grid-column: 1 / -1; display: grid; gap: .25rem; align-content: start; justify-items: start; margin-block: .375rem 0; }
section > .logic-badge, fieldset > .logic-badge:not(:last-child) { margin-block: 0 .75rem; }
.logic-badge p { margin: 0; padding: .125rem .625rem; border-radius: 1rem; background: var(--tint); color: var(--soft); font: 400 .8125rem/1.5 system-ui, sans-serif; text-align: start; overflow-wrap: anywhere; }
.logic-badge em { font-style: normal; font-weight: 600; color: var(--ink); }
hr[data-key]:has(.logic-badge) { block-size: auto; }
hr[data-key] { position: relative; overflow: visible; }
hr[data-key]::after { content: ""; position: absolute; inset: -.5rem 0; }
.empty-slot {
  grid-column: 1 / -1; inline-size: 100%; min-block-size: 4.5rem; border: 1px dashed var(--edge); border-radius: var(--round);
  background: var(--tint); color: var(--soft); font-weight: 400; text-align: center;
}
.empty-slot:hover { border-color: var(--accent); color: var(--ink); }
img[src=""] { inline-size: 100%; min-block-size: 8rem; border: 1px dashed var(--edge); background: var(--tint); }
.not_shown { border: 1px dashed var(--edge); border-radius: var(--round); padding: var(--4); }
.stranger { border: 1px dashed var(--bad); border-radius: var(--round); padding: var(--4); color: var(--bad); }
.submit, .add, .remove { pointer-events: none; }
::file-selector-button { pointer-events: none; }
`;

let shared: readonly CSSStyleSheet[] | undefined;

function sheetOf(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}

/**
 * Returns the style sheets of the canvas. Only the theme differs between forms. Constructed style sheets do
 * not count as inline styles, which the content security policy forbids.
 */
function canvasSheets(theme: string): CSSStyleSheet[] {
  shared ??= [
    scopeStylesheet(stylesheet),
    scopeStylesheet(`${allElementStyles()}\n${languageStyle}`),
    additions,
  ].map(sheetOf);
  const [page, elements, canvas] = shared;
  return [page!, elements!, sheetOf(theme), canvas!];
}

type ShadowProps = {
  readonly children: ReactNode;
  readonly hostRef: Ref<HTMLDivElement>;
  readonly manner: Pick<CanvasPageContext, 'look' | 'scheme'>;
};

/**
 * Renders its children in a shadow root, with the public page's styles in the form's theme and without the
 * console's styles.
 */
function Shadow({ children, hostRef, manner }: ShadowProps): ReactNode {
  const { scheme, look } = manner;
  const { style } = look;
  const [root, setRoot] = useState<ShadowRoot | undefined>();
  const attach = useCallback(
    (host: HTMLDivElement | null) => {
      if (typeof hostRef === 'function') hostRef(host);
      else if (hostRef) hostRef.current = host;
      if (host) setRoot(host.shadowRoot ?? host.attachShadow({ mode: 'open' }));
    },
    [hostRef],
  );
  useLayoutEffect(() => {
    if (root) root.adoptedStyleSheets = canvasSheets(scopeStylesheet(style));
  }, [root, style]);
  useFaces(style);
  return (
    <div ref={attach} className="canvas-host" data-scheme={scheme}>
      {root && createPortal(children, root)}
    </div>
  );
}

/** Declares the font faces in the document, because a shadow root cannot use them otherwise. */
function useFaces(style: string): void {
  useLayoutEffect(() => {
    const faces = new CSSStyleSheet();
    faces.replaceSync(facesIn(style));
    document.adoptedStyleSheets.push(faces);
    return () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== faces);
    };
  }, [style]);
}

/** The theme, texts and layout of a form's pages. The object is stable until one of them changes. */
function usePageContext(
  formId: string,
  root: EditNode,
  settings: Settings,
  requestedScheme: Scheme,
): CanvasPageContext {
  // The canvas shows the form in its first language.
  const [first] = drawableFrame(root).attrs.languages ?? [];
  const labels = useLabels(root);
  const texts = useMemo(() => pageTextsOf(first === undefined ? [] : [first], settings), [first, settings]);
  return useMemo(() => {
    const theme = drawableTheme(settings.theme ?? {});
    const { language } = texts;
    const look = getPageStyle(formId, { ...settings, theme }, { isEmbedded: false, language });
    const scheme = chooseSchemeToPreview(theme, requestedScheme);
    return { formId, scheme, look: withSchemeLogo(look, scheme), texts, settings, labels };
  }, [formId, settings, texts, requestedScheme, labels]);
}

/** The labels of the questions whose answers texts show. The object is stable until one of them changes. */
function useLabels(root: EditNode): CanvasPageContext['labels'] {
  const packed = JSON.stringify(pipedLabelsOf(root));
  return useMemo(() => new Map(JSON.parse(packed) as [string, string][]), [packed]);
}

type CanvasProps = {
  readonly host: RefObject<HTMLDivElement | null>;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly problems: ReadonlyMap<NodeKey, readonly string[]>;
  readonly foot: HTMLElement | null;
  readonly drag: Drag | undefined;
  readonly onDrag: StartDrag;
  /** Opens the element menu for a position. */
  readonly onInsert: (anchor: Element, spot: Spot) => void;
};

/** An editable view of the form as it will look. */
export function Canvas({
  host,
  scroller,
  problems,
  foot,
  drag,
  onDrag,
  onInsert,
}: CanvasProps): ReactElement {
  const place = useBuilder();
  const { editor } = place;
  const { id: formId } = useCurrentForm();
  const state = useEditorState(editor);
  const { root, settings } = state.history.present;
  const manner = usePageContext(formId, root, settings, useColorScheme());
  useFocusWishes(editor, host, state.focus);
  useFocusReturn(host);
  return (
    <div className="canvas" ref={scroller} onPointerDown={(event) => startPointing(event, onDrag)}>
      <div className="canvas-sheet">
        <Shadow hostRef={host} manner={manner}>
          <CanvasForm
            manner={manner}
            state={state}
            editor={editor}
            problems={problems}
            names={place}
            onFill={(parent, button) => onInsert(button, { parent, index: 0 })}
          />
        </Shadow>
        <Overlay
          host={host}
          foot={foot}
          onDrag={onDrag}
          onInsert={onInsert}
          isDragging={drag !== undefined}
        />
      </div>
      <DragLayer drag={drag} />
    </div>
  );
}

/**
 * With a mouse, elements can be dragged by their body and steps by their heading; a press anywhere else
 * starts a selection. Touch scrolls, and drags only by the handle.
 */
function startPointing(event: React.PointerEvent, onDrag: StartDrag): void {
  if (event.pointerType === 'touch') return;
  // React reports a press in the shadow root a second time, with the host as its target.
  if (event.target !== event.nativeEvent.composedPath()[0]) return;
  // A canvas menu is in a portal, so its presses reach this handler only through the React tree.
  if (!event.nativeEvent.composedPath().includes(event.currentTarget)) return;
  const path = event.nativeEvent.composedPath().filter((target) => target instanceof HTMLElement);
  if (path.some((target) => target.matches('.written, button, .node-bar'))) return;
  // A press on the scrollbar of the canvas.
  const { target, currentTarget } = event;
  if (target === currentTarget && event.nativeEvent.offsetX > currentTarget.clientWidth) return;
  const node = path.find(({ dataset }) => dataset['key'] !== undefined);
  const isOnHandle = node?.matches('section')
    ? path[0] !== node && path.some((part) => part.matches('h1, h2'))
    : node;
  const key = isOnHandle && !node?.matches('header') ? node?.dataset['key'] : undefined;
  onDrag(key === undefined ? undefined : { kind: 'move', key }, event);
}

/** Moves focus as the editor requested, after rendering. */
function useFocusWishes(
  editor: Editor,
  host: RefObject<HTMLDivElement | null>,
  focus: EditorState['focus'],
): void {
  const done = useRef(focus);
  useEffect(() => {
    if (!focus || done.current === focus || focus.part === 'panel') return;
    done.current = focus;
    // A label that is being edited already has focus.
    if (focus.part === 'label' || editor.read().editing?.key === focus.key) return;
    const element = findNodeElement(host.current, focus.key);
    element?.focus({ preventScroll: true });
    // Scrolls smoothly between steps, to show the direction of the move.
    const isFar = element?.localName === 'section' && canAnimate();
    element?.scrollIntoView({ block: 'nearest', behavior: isFar ? 'smooth' : 'instant' });
  }, [editor, host, focus]);
}

/**
 * Returns the focus to the canvas when a dialog or menu over it closes. React Aria only returns it to elements
 * outside of shadow roots.
 */
function useFocusReturn(host: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let last: Element | null | undefined;
    const note = ({ target }: FocusEvent): void => {
      const isOver = target instanceof Element && target.closest(overlays);
      if (!isOver) last = target === host.current ? host.current?.shadowRoot?.activeElement : undefined;
    };
    const isOverlay = (node: Node): boolean =>
      node instanceof Element && (node.matches(overlays) || node.querySelector(overlays) !== null);
    const watcher = new MutationObserver((changes) => {
      if (!changes.some(({ removedNodes }) => [...removedNodes].some(isOverlay))) return;
      const isLost = document.activeElement === document.body && !document.querySelector(overlays);
      if (isLost && last instanceof HTMLElement && last.isConnected) last.focus({ preventScroll: true });
    });
    document.addEventListener('focusin', note);
    watcher.observe(document.body, { childList: true });
    return () => {
      document.removeEventListener('focusin', note);
      watcher.disconnect();
    };
  }, [host]);
}
