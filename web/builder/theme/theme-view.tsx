import './theme-view.css';
import { type ReactElement, useMemo } from 'react';
import type { Settings } from '#ast/settings.ts';
import { Button } from '../../design/button.tsx';
import { Message } from '../../design/message.tsx';
import { useBuilder } from '../editor/use-editor.ts';
import type { EditNode } from '../model/edit-node.ts';
import type { BuilderForm } from '../saving/builder-api.ts';
import { changedSettings, themeSettings } from '../settings/settings-values.ts';
import { useSaveSettings } from '../settings/use-save-settings.ts';
import { changedTheme, drawableTheme, type ThemeChange } from './theme-choices.ts';
import { ThemePanel } from './theme-panel.tsx';
import { ThemePreview } from './theme-preview.tsx';

type ThemeProps = {
  readonly path: string;
  readonly opened: BuilderForm;
  readonly root: EditNode;
  /** All settings as they are entered and not saved yet; this view changes two of them. */
  readonly draft: Settings;
  readonly onDraft: (change: (draft: Settings) => Settings) => void;
  readonly onSaved: (settings: Settings) => void;
};

/** How the form looks and in which language it speaks, with its page beside. It holds as soon as it is saved. */
export function ThemeView({ path, opened, root, draft, onDraft, onSaved }: ThemeProps): ReactElement {
  const { isReadOnly } = useBuilder();
  const { id: formId, workspace_id: workspaceId, settings: saved } = opened.form;
  const { theme = {}, locale = 'auto' } = draft;
  const drawable = useMemo(() => drawableTheme(draft.theme ?? {}), [draft.theme]);
  const changes = changedSettings(themeSettings(saved), themeSettings(draft));
  const { save, isPending, problem } = useSaveSettings(
    path,
    changes,
    onSaved,
    'Theme saved. Visitors see it from now on.',
  );
  // An image may take its time: what was chosen while it was on its way is in the draft that it is put into.
  const changeTheme = (change: ThemeChange): void =>
    onDraft(({ theme: old = {}, ...others }) => {
      const next = changedTheme(old, change);
      return { ...others, ...(next && { theme: next }) };
    });
  return (
    <div className="theme-view">
      <form
        className="theme-panel"
        aria-label="Theme"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <div className="settings-head">
          <h2>Theme</h2>
          <Button
            type="submit"
            variant="primary"
            isPending={isPending}
            isDisabled={isReadOnly || Object.keys(changes).length === 0}
          >
            Save theme
          </Button>
        </div>
        {problem && problem.errors.length === 0 && <Message tone="bad">{problem.message}</Message>}
        <ThemePanel
          formId={formId}
          workspaceId={workspaceId}
          theme={theme}
          locale={locale}
          isReadOnly={isReadOnly}
          error={(field) => problem?.of(field)}
          onTheme={changeTheme}
          onLocale={(next) =>
            onDraft(({ locale: _old, ...others }) => ({
              ...others,
              ...(next !== 'auto' && { locale: next }),
            }))
          }
        />
      </form>
      <ThemePreview root={root} formId={formId} settings={draft} theme={drawable} />
    </div>
  );
}
