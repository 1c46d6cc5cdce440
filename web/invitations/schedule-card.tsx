import type { ReactElement } from 'react';
import type { ApiProblem } from '../api/client.ts';
import { Switch } from '../design/checkbox.tsx';
import { TextArea, TextField } from '../design/field.tsx';
import { Card } from '../design/page.tsx';
import type { Draft } from './draft.ts';

type Props = {
  draft: Draft;
  onChange: (draft: Draft) => void;
  canMail: boolean;
  problem: ApiProblem | undefined;
};

/** Whether mails are sent, when they remind, and until when the links work. */
export function ScheduleCard({ draft, onChange, canMail, problem }: Props): ReactElement {
  const reminds = draft.isMailed && draft.reminderDays.trim() !== '';
  return (
    <Card title="Sending">
      <Switch
        isSelected={draft.isMailed}
        isDisabled={!canMail}
        onChange={(isMailed) => onChange({ ...draft, isMailed })}
        description={
          canMail
            ? 'Without, you hand out the links yourself.'
            : 'This service sends no mail: copy the links, or download them.'
        }
      >
        Send the invitations by mail
      </Switch>
      <div className="invite-pair">
        <TextField
          label="Links work until"
          description="Empty: without end."
          type="date"
          value={draft.expires}
          error={problem?.of('expires_at')}
          onChange={(expires) => onChange({ ...draft, expires })}
        />
        {draft.isMailed && (
          <TextField
            label="Remind after days"
            description="Such as 3, 7. Only who did not answer."
            value={draft.reminderDays}
            error={problem?.of('remind_after_days')}
            onChange={(reminderDays) => onChange({ ...draft, reminderDays })}
          />
        )}
      </div>
      {reminds && (
        <>
          <TextField
            label="Subject of reminders"
            description="Empty: “Reminder:” and the subject above."
            value={draft.reminder_subject ?? ''}
            error={problem?.of('reminder_subject')}
            onChange={(text) => onChange({ ...draft, reminder_subject: text })}
          />
          <TextArea
            label="Text of reminders"
            description="Empty: the text above once more."
            rows={4}
            value={draft.reminder_message ?? ''}
            error={problem?.of('reminder_message')}
            onChange={(text) => onChange({ ...draft, reminder_message: text })}
          />
        </>
      )}
    </Card>
  );
}
