import './settings-view.css';
import type { ReactElement } from 'react';
import type { SettingName, Settings } from '#ast/settings.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { AccessCard } from './access-card.tsx';
import { AfterCard } from './after-card.tsx';
import { AskingCard } from './asking-card.tsx';
import { EmbedCard } from './embed-card.tsx';
import { MailCard } from './mail-card.tsx';
import { PasswordField } from './password-field.tsx';
import { ProblemLink } from './problem-link.tsx';
import { ProgressCard } from './progress-card.tsx';
import { SearchCard } from './search-card.tsx';
import type { SettingsChange, SettingsForm } from './setting-fields.tsx';
import type { SettingProblem } from './setting-problems.ts';
import { SpamCard } from './spam-card.tsx';

type SettingsProps = {
  readonly hasPassword: boolean;
  readonly problems: readonly SettingProblem[];
  readonly setPassword: (password: string) => Promise<void>;
};

/** All settings of the form but those of its theme: part of the working copy, as its elements are. */
export function SettingsView({ hasPassword, problems, setPassword }: SettingsProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root, settings } = useEditorState(editor).history.present;
  const own = problems.filter(({ view }) => view === 'settings');
  // Of a list, a problem names the entry: `confirmations.0.when`.
  const error = (name: SettingName): string | undefined =>
    own.find(({ field }) => field === name || (name !== 'theme' && field.startsWith(`${name}.`)))?.message;
  const set = (change: SettingsChange): void =>
    editor.changeSettings(
      (now) =>
        Object.fromEntries(
          Object.entries({ ...now, ...change }).filter(([, value]) => value !== undefined && value !== ''),
        ) as Settings,
      `settings ${Object.keys(change).join()}`,
    );
  const form: SettingsForm = { settings, set, error, isReadOnly };
  return (
    <div className="builder-page">
      <form className="stack" aria-label="Settings" onSubmit={(event) => event.preventDefault()}>
        <div className="settings-head">
          <div>
            <h2>Settings</h2>
            <p className="soft">
              Saved as you change them, with the form. They hold once you publish. A password holds at once.
            </p>
          </div>
          <ProblemLink problems={own} />
        </div>
        <AccessCard
          form={form}
          password={
            <PasswordField
              hasPassword={hasPassword}
              error={error('password')}
              isReadOnly={isReadOnly}
              setPassword={setPassword}
            />
          }
        />
        <AskingCard form={form} />
        <AfterCard form={form} root={root} />
        <MailCard form={form} root={root} />
        <ProgressCard form={form} />
        <SpamCard form={form} />
        <EmbedCard form={form} />
        <SearchCard form={form} root={root} />
      </form>
    </div>
  );
}
