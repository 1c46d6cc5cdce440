import { type ReactElement, useEffect, useRef } from 'react';
import { pluralize } from '#ast/basics/format-number.ts';
import { IconButton } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import { focusUnreadableInput } from '../design/unreadable-input.ts';
import { canAnimate } from '../design/use-swipe-away.ts';
import { formatKeys } from '../shell/keyboard-shortcuts.ts';
import { type BuilderView, builderViews } from './builder-address.ts';
import { useBuilder, useEditorState } from './editor/use-editor.ts';
import {
  type BuilderCommand,
  type GlobalCommandTarget,
  globalCommands,
} from './shortcuts/builder-commands.ts';

/** The views of a form, with undo and redo, which work in all of them. */
export function ViewTabs({
  view,
  problems,
  onChange,
  onTravel,
}: {
  view: BuilderView;
  /** The number of problems in each view that prevent publishing the form. */
  problems: Partial<Record<BuilderView, number>>;
  onChange: (view: BuilderView) => void;
  onTravel: (step: 'undo' | 'redo') => void;
}): ReactElement {
  const { editor } = useBuilder();
  const { past, future } = useEditorState(editor).history;
  const nav = useRef<HTMLElement>(null);
  // Scrolls to the current tab, because not all tabs fit on a phone.
  useEffect(() => {
    const behavior = canAnimate() ? 'smooth' : 'auto';
    nav.current
      ?.querySelector('[aria-current]')
      ?.scrollIntoView({ inline: 'center', block: 'nearest', behavior });
  }, [view]);
  return (
    <div className="view-bar">
      <nav ref={nav} aria-label="Form views" className="view-tabs">
        {builderViews.map(({ id, label, icon }) => (
          <button
            key={id}
            type="button"
            className="view-tab"
            aria-current={id === view ? 'page' : undefined}
            onClick={() => focusUnreadableInput() || onChange(id)}
          >
            <Icon name={icon} />
            {label}
            {problems[id] ? (
              <span className="view-problems">
                {problems[id]}
                <span className="unseen">{pluralize(problems[id], ' problem')}</span>
              </span>
            ) : null}
          </button>
        ))}
      </nav>
      <div className="row">
        <IconButton
          icon="undo"
          label={labelOf(globalCommands.undo)}
          size="small"
          isDisabled={past.length === 0}
          onPress={() => onTravel('undo')}
        />
        <IconButton
          icon="redo"
          label={labelOf(globalCommands.redo)}
          size="small"
          isDisabled={future.length === 0}
          onPress={() => onTravel('redo')}
        />
      </div>
    </div>
  );
}

const labelOf = ({ label, presses }: BuilderCommand<GlobalCommandTarget>): string =>
  `${label} (${formatKeys(presses[0]!)})`;
