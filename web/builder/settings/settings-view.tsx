import './settings-view.css';
import type { ReactElement } from 'react';
import type { Settings } from '#ast/settings.ts';
import { Button } from '../../design/button.tsx';
import { Message } from '../../design/message.tsx';
import { useBuilder } from '../editor/use-editor.ts';
import type { BuilderForm } from '../saving/builder-api.ts';
import { AccessCard } from './access-card.tsx';
import { AfterCard } from './after-card.tsx';
import { EmbedCard } from './embed-card.tsx';
import { MailCard } from './mail-card.tsx';
import { ProgressCard } from './progress-card.tsx';
import { SearchCard } from './search-card.tsx';
import type { SettingsChange, SettingsForm } from './setting-fields.tsx';
import { changedSettings, otherSettings } from './settings-values.ts';
import { SpamCard } from './spam-card.tsx';
import { useSaveSettings } from './use-save-settings.ts';

type SettingsProps = {
  readonly path: string;
  readonly opened: BuilderForm;
  /** What is entered and not saved yet; it outlives a look at another view. */
  readonly draft: Settings;
  readonly onDraft: (change: (draft: Settings) => Settings) => void;
  readonly onSaved: (settings: Settings) => void;
};

/** All settings of the form (DESIGN 4.15) but those of its theme. They hold as soon as they are saved, without publishing. */
export function SettingsView({
  path,
  opened,
  draft: settings,
  onDraft,
  onSaved,
}: SettingsProps): ReactElement {
  const { isReadOnly } = useBuilder();
  const saved = opened.form.settings as Settings;
  const changes = changedSettings(otherSettings(saved), otherSettings(settings));
  const { save, isPending, problem } = useSaveSettings(
    path,
    changes,
    onSaved,
    'Settings saved. They hold from now on.',
  );
  const set = (change: SettingsChange): void =>
    onDraft((draft) =>
      Object.fromEntries(
        Object.entries({ ...draft, ...change }).filter(([, value]) => value !== undefined && value !== ''),
      ),
    );
  const form: SettingsForm = { settings, set, error: (name) => problem?.of(name), isReadOnly };

  return (
    <div className="builder-page">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <div className="settings-head">
          <div>
            <h2>Settings</h2>
            <p className="soft">They hold as soon as they are saved, also for a form that is live.</p>
          </div>
          <Button
            type="submit"
            variant="primary"
            isPending={isPending}
            isDisabled={isReadOnly || Object.keys(changes).length === 0}
          >
            Save settings
          </Button>
        </div>
        {problem && problem.errors.length === 0 && <Message tone="bad">{problem.message}</Message>}
        <AccessCard form={form} saved={saved} />
        <AfterCard form={form} />
        <MailCard form={form} opened={opened} />
        <ProgressCard form={form} />
        <SpamCard form={form} />
        <EmbedCard form={form} />
        <SearchCard form={form} opened={opened} />
      </form>
    </div>
  );
}
