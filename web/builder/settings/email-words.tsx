import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactElement, useCallback, useState } from 'react';
import { pipedIds } from '#ast/form/piping.ts';
import { type EmailWords, emailPlaceholders, receiptCandidates } from '#ast/settings-email.ts';
import { settingRow } from '#ast/settings-table.ts';
import type { EntryTranslations } from '#ast/translations/check-translations.ts';
import { callOperation, operationQuery } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { Switch } from '../../design/checkbox.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { DrawnPage } from '../../design/drawn-page.tsx';
import { FieldHelp, TextArea, TextField } from '../../design/field.tsx';
import { Message, SaveErrorMessage } from '../../design/message.tsx';
import { writeEmail } from '../../design/page-document.ts';
import { Select } from '../../design/select.tsx';
import { QueryState } from '../../design/states.tsx';
import { useCurrentForm } from '../../shell/session.ts';
import { InsertAnswerMenu } from '../panel/formula-input.tsx';
import { type SettingProps, settingFieldProps, useElementChoices } from './setting-fields.tsx';
import { formatEntryLabel, withEntryText } from './settings-values.ts';

type Translated = { readonly translations?: EntryTranslations };

type WordsProps<Email extends EmailWords> = SettingProps & {
  readonly kind: 'notification' | 'receipt';
  /** What the labels call the email: `email 2`. */
  readonly label: string;
  readonly email: Email;
  /** Whether the setting `receipt` attaches the PDF, unless this email says otherwise. */
  readonly isPdfInherited?: boolean;
  readonly onChange: (email: Email) => void;
};

/** The value of the choice of an address. No element can have this ID. */
const byAddress = '@';

/** Whether a placeholder shows nothing that a visitor wrote. */
const isLinkOrName = (id: string): boolean => id !== 'answers' && Object.hasOwn(emailPlaceholders, id);

/** The author's own subject, message and reply address of an email, with a preview. */
export function EmailWordsFields<Email extends EmailWords & Translated>({
  form,
  kind,
  label,
  email,
  isPdfInherited = false,
  onChange,
}: WordsProps<Email>): ReactElement {
  const [isPreviewed, setPreviewed] = useState(false);
  const { subject = '', message = '', reply_to: replyTo, attach_pdf: attachPdf = isPdfInherited } = email;
  const chosen = typeof replyTo === 'object' ? replyTo.answer : undefined;
  const none = kind === 'receipt' ? 'Sender of this server' : 'Visitor';
  const [byDefault, ...elements] = useElementChoices(form.root, chosen, receiptCandidates, none);
  const write = (name: 'subject' | 'message', text: string): void =>
    onChange(withEntryText(email, name, text));
  const reply = (to: EmailWords['reply_to']): void => {
    const { reply_to: _old, ...rest } = email;
    onChange({ ...rest, ...(to !== undefined && { reply_to: to }) } as Email);
  };
  const attach = (isOn: boolean): void => {
    const { attach_pdf: _old, ...rest } = email;
    onChange({ ...rest, ...(isOn !== isPdfInherited && { attach_pdf: isOn }) } as Email);
  };
  return (
    <>
      <InsertAnswerMenu isOfPart={false} onInsert={(text) => write('subject', `${subject}${text}`)}>
        <TextField
          label={formatEntryLabel('subject', label)}
          description="Leave empty for the standard subject."
          value={subject}
          onChange={(text) => write('subject', text)}
          isReadOnly={form.isReadOnly}
        />
      </InsertAnswerMenu>
      <InsertAnswerMenu
        isOfPart={false}
        more={emailPlaceholders}
        onInsert={(text) => write('message', `${message}${text}`)}
      >
        <TextArea
          label={formatEntryLabel('message', label)}
          description="Replaces the standard text. Bold, italics, links, lists and headings work as in Markdown."
          value={message}
          onChange={(text) => write('message', text)}
          isReadOnly={form.isReadOnly}
        />
      </InsertAnswerMenu>
      <Select
        label={`Replies to ${label} go to`}
        value={typeof replyTo === 'string' ? byAddress : (chosen ?? '')}
        choices={[byDefault!, { id: byAddress, label: 'An address' }, ...elements]}
        onChange={(id) => reply(id === byAddress ? '' : id ? { answer: id } : undefined)}
        isDisabled={form.isReadOnly}
      />
      {typeof replyTo === 'string' && (
        <TextField
          label={`Reply address of ${label}`}
          inputMode="email"
          value={replyTo}
          onChange={reply}
          isReadOnly={form.isReadOnly}
        />
      )}
      <Switch isSelected={attachPdf} isDisabled={form.isReadOnly} onChange={attach}>
        {`Attach the PDF to ${label}`}
      </Switch>
      {kind === 'receipt' &&
        (attachPdf || pipedIds(`${subject}${message}`).some((id) => !isLinkOrName(id))) && (
          <Message tone="warn">{settingRow('receipt_answers').note}</Message>
        )}
      <div className="row">
        <Button size="small" icon="eye" aria-label={`Preview ${label}`} onPress={() => setPreviewed(true)}>
          Preview
        </Button>
      </div>
      {isPreviewed && (
        <PreviewDialog
          email={{
            kind,
            ...(subject !== '' && { subject }),
            ...(message !== '' && { message }),
            ...(replyTo !== undefined && { reply_to: replyTo }),
            attach_pdf: attachPdf,
          }}
          canSend={!form.isReadOnly}
          onClose={() => setPreviewed(false)}
        />
      )}
    </>
  );
}

type PreviewProps = {
  readonly email: EmailWords & { readonly kind: 'notification' | 'receipt' };
  readonly canSend: boolean;
  readonly onClose: () => void;
};

/** Shows the email about a sample submission, and sends it to the signed-in person. */
function PreviewDialog({ email, canSend, onClose }: PreviewProps): ReactElement {
  const { id, workspace_id: workspace } = useCurrentForm();
  const input = { params: { id }, body: email };
  const preview = useQuery({
    ...operationQuery(workspace, 'previewFormEmail', input),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
  const send = useAction({
    run: () => callOperation(workspace, 'testFormEmail', input),
    done: ({ to }) => `A test is on its way to ${to}.`,
  });
  return (
    <Dialog
      title="Email preview"
      description={email.attach_pdf ? 'With sample answers, without the PDF.' : 'With sample answers.'}
      size="medium"
      onClose={onClose}
      done="Done"
      actions={
        canSend && (
          <Button icon="send" {...send.press()}>
            Send a test
          </Button>
        )
      }
    >
      {send.unlocated !== undefined && <Message tone="bad">{send.unlocated}</Message>}
      <QueryState query={preview}>{(shown) => <ShownEmail {...shown} />}</QueryState>
    </Dialog>
  );
}

function ShownEmail({
  subject,
  reply_to: replyTo,
  html,
}: {
  subject: string;
  reply_to: string | null;
  html: string;
}): ReactElement {
  const draw = useCallback((page: Document): void => writeEmail(page, html), [html]);
  return (
    <>
      <p>
        <strong>{subject}</strong>
        {replyTo !== null && (
          <>
            <br />
            <span className="soft small">Replies go to {replyTo}</span>
          </>
        )}
      </p>
      <DrawnPage title="Email" draw={draw} />
    </>
  );
}

/** The author's own words for receipts. */
export function ReceiptField({ form }: SettingProps): ReactElement {
  const { label, description, error } = settingFieldProps(form, 'receipt');
  return (
    <fieldset className="field logic-rule">
      <legend className="field-label">{label}</legend>
      <FieldHelp description={description} />
      <EmailWordsFields
        form={form}
        kind="receipt"
        label="the receipt"
        email={form.settings.receipt ?? {}}
        onChange={(receipt) => form.set({ receipt: Object.keys(receipt).length > 0 ? receipt : undefined })}
      />
      {error && <SaveErrorMessage>{error}</SaveErrorMessage>}
    </fieldset>
  );
}
