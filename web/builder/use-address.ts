import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import { type BuilderAddress, parseBuilderAddress } from './builder-address.ts';
import type { Editor } from './editor/editor.ts';
import { useEditorState } from './editor/use-editor.ts';
import { formatNodeAddress, nodeAtAddress } from './model/form-index.ts';

/** Changes the address of the builder. `push` adds an entry to the browser's history. */
type ChangeAddress = (change: BuilderAddress, how: 'push' | 'replace') => void;

/** Returns what the address of the builder names, and a function to change it. */
export function useAddress(): readonly [BuilderAddress, ChangeAddress] {
  const address = parseBuilderAddress(useSearch({ strict: false }));
  const navigate = useNavigate();
  const change: ChangeAddress = useCallback(
    (changed, how) => {
      const search = (before: BuilderAddress): BuilderAddress =>
        parseBuilderAddress({ ...before, ...changed });
      void navigate({ to: '.', search, replace: how === 'replace', resetScroll: false });
    },
    [navigate],
  );
  return [address, change];
}

/** In milliseconds. A held arrow key changes the address only when it is released. */
const restMs = 100;

/**
 * Selects the node that the address names, and names the selected node in the address. An address that names
 * no node of the form loses that part.
 */
export function useSelectionAddress(editor: Editor): void {
  const [{ view, panel, selected }, change] = useAddress();
  const { root, selection } = useEditorState(editor).history.present;
  const current = formatNodeAddress(root, selection);
  // What was written last, because the address arrives here later than the selection.
  const written = useRef<string>(undefined);
  useEffect(() => {
    if (selected === written.current) return;
    written.current = selected;
    const found = selected === undefined ? root : nodeAtAddress(root, selected);
    const isCanvasShown = view === undefined && panel === undefined;
    if (found) editor.select(found.key, isCanvasShown ? 'node' : undefined);
  }, [editor, root, selected, view, panel]);
  useEffect(() => {
    if (current === written.current) return undefined;
    const rest = setTimeout(() => {
      written.current = current;
      change({ selected: current }, 'replace');
    }, restMs);
    return () => clearTimeout(rest);
  }, [current, selected, change]);
}
