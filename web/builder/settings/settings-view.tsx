import './settings-view.css';
import { type ReactElement, useMemo, useState } from 'react';
import { type Language, languages } from '#ast/languages.ts';
import { subjectCandidates } from '#ast/searchable.ts';
import type { AccessMode, Settings } from '#ast/settings.ts';
import { validateStructure } from '#ast/validate.ts';
import { ApiProblem, patch } from '../../api/client.ts';
import { Button } from '../../design/button.tsx';
import { RadioGroup, Switch } from '../../design/checkbox.tsx';
import { TextArea, TextField } from '../../design/field.tsx';
import { Message } from '../../design/message.tsx';
import { Card } from '../../design/page.tsx';
import { Select } from '../../design/select.tsx';
import { toastDone } from '../../design/toast.tsx';
import { useBuilder } from '../editor/use-editor.ts';
import type { BuilderForm } from '../saving/builder-api.ts';
import { changedSettings, fromLocal, toLocal } from './settings-values.ts';

const accessChoices: readonly { id: AccessMode; label: string; description: string }[] = [
  { id: 'public', label: 'Everybody with the link', description: 'The form is open while it is published.' },
  { id: 'invited', label: 'Invited people', description: 'Each needs an invitation of their own.' },
  {
    id: 'password',
    label: 'Whoever knows the password',
    description: 'Admits nobody until a password can be set.',
  },
  { id: 'closed', label: 'Nobody for now', description: 'The page says that the form is closed.' },
];

const languageChoices = (Object.keys(languages) as Language[]).map((id) => ({
  id,
  label: id === 'simple' ? 'Any language, words as they are' : `${id.charAt(0).toUpperCase()}${id.slice(1)}`,
}));

type SettingsProps = {
  readonly path: string;
  readonly opened: BuilderForm;
  /** What is entered and not saved yet; it outlives a look at another view. */
  readonly draft: Settings;
  readonly onDraft: (draft: Settings) => void;
  readonly onSaved: (settings: Settings) => void;
};

/** All settings of the form (DESIGN 4.15). They hold as soon as they are saved, without publishing. */
export function SettingsView({
  path,
  opened,
  draft: settings,
  onDraft,
  onSaved,
}: SettingsProps): ReactElement {
  const { isReadOnly } = useBuilder();
  const saved = opened.form.settings as Settings;
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | undefined>();
  const subjects = useSubjects(opened);
  const changes = changedSettings(saved, settings);
  const set = (change: { [Name in keyof Settings]?: Settings[Name] | undefined }): void =>
    onDraft(
      Object.fromEntries(
        Object.entries({ ...settings, ...change }).filter(([, value]) => value !== undefined && value !== ''),
      ),
    );
  const error = (name: keyof Settings): string | undefined => problem?.of(name);

  const save = async (): Promise<void> => {
    setPending(true);
    setProblem(undefined);
    try {
      const answer = await patch<{ settings: Settings }>(`${path}/settings`, { settings: changes });
      onSaved(answer.settings);
      toastDone('Settings saved. They hold from now on.');
    } catch (failure) {
      if (!(failure instanceof ApiProblem)) throw failure;
      setProblem(failure);
    } finally {
      setPending(false);
    }
  };
  return (
    <div className="builder-page">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
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
        <Card title="Who and when">
          <RadioGroup
            label="Who may fill it in"
            choices={accessChoices}
            value={settings.access ?? 'public'}
            onChange={(access) => set({ access })}
            error={error('access')}
            isDisabled={isReadOnly}
          />
          <div className="settings-pair">
            <TextField
              type="datetime-local"
              label="Opens"
              description="In your time zone."
              value={toLocal(settings.opens_at)}
              onChange={(text) => set({ opens_at: fromLocal(text) })}
              error={error('opens_at')}
            />
            <TextField
              type="datetime-local"
              label="Closes"
              description="In your time zone."
              value={toLocal(settings.closes_at)}
              onChange={(text) => set({ closes_at: fromLocal(text) })}
              error={error('closes_at')}
            />
          </div>
          <TextField
            label="Most submissions"
            description="Once there are so many, the form closes. Empty: no limit."
            inputMode="numeric"
            value={settings.max_submissions === undefined ? '' : String(settings.max_submissions)}
            onChange={(text) => set({ max_submissions: /^\d+$/.test(text) ? Number(text) : undefined })}
            error={error('max_submissions')}
          />
        </Card>
        <Card title="After a submission">
          <TextArea
            label="Confirmation message"
            description="What visitors read when they are done."
            value={settings.confirmation_message ?? ''}
            onChange={(text) => set({ confirmation_message: text })}
            error={error('confirmation_message')}
          />
          <TextField
            type="email"
            label="Notify by email"
            description="Gets a mail for each submission."
            value={settings.notification_email ?? ''}
            onChange={(text) => set({ notification_email: text })}
            error={error('notification_email')}
          />
          <Switch
            isSelected={settings.editing ?? false}
            onChange={(editing) => set({ editing })}
            description="Submissions may be changed after they were sent."
          >
            Editing
          </Switch>
        </Card>
        <Card title="Search">
          <Select
            label="Subject"
            description="The answer that weighs most in search, and names a submission."
            value={settings.subject_element ?? ''}
            choices={subjects}
            onChange={(id) => set({ subject_element: id === '' ? undefined : id })}
            error={error('subject_element')}
          />
          <Select
            label="Language of the answers"
            description="Search finds other forms of a word in this language."
            value={settings.language ?? 'english'}
            choices={languageChoices}
            onChange={(language) => set({ language })}
            error={error('language')}
          />
        </Card>
      </form>
    </div>
  );
}

/** The text elements of the live form, by which the service checks. */
function useSubjects({ live, form }: BuilderForm): readonly { id: string; label: string }[] {
  return useMemo(() => {
    const result = validateStructure(live.structure);
    const candidates = result.ok ? subjectCandidates(result.form) : [];
    const chosen = (form.settings as Settings).subject_element;
    const known = candidates.map(({ attrs }) => ({ id: attrs.id, label: `${attrs.label} (${attrs.id})` }));
    const gone =
      chosen && !known.some(({ id }) => id === chosen)
        ? [{ id: chosen, label: `${chosen} (not in the live form)` }]
        : [];
    return [
      { id: '', label: 'By itself: the element “subject”, else the first short text' },
      ...known,
      ...gone,
    ];
  }, [live.structure, form.settings]);
}
