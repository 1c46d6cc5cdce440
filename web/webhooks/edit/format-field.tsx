import type { ReactElement } from 'react';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { CopyField } from '../../design/copy-button.tsx';
import { TextArea } from '../../design/field.tsx';
import { SaveErrorMessage } from '../../design/message.tsx';
import { Select } from '../../design/select.tsx';
import { formatChoices, formatHelp, type WebhookFormat } from '../events.ts';
import { prettifyJson } from '../log-view.ts';
import type { WebhookOwner } from '../webhooks-query.ts';

type FormatDraft = { format: WebhookFormat; template: string };

type Props = FormatDraft & {
  form: WebhookOwner;
  url: string;
  onChange: (change: Partial<FormatDraft>) => void;
  error: string | undefined;
};

/** Chooses the format of the body, edits its template, and previews it with the last submission. */
export function FormatField({ form, url, format, template, onChange, error }: Props): ReactElement {
  const preview = useAction({
    run: () =>
      callOperation(form.workspace_id, 'previewWebhook', {
        body: {
          format,
          url,
          ...(format === 'template' && { template }),
          ...(form.id !== null && { form_id: form.id }),
        },
      }),
  });
  const change = (what: Partial<FormatDraft>): void => {
    preview.reset();
    onChange(what);
  };
  const shown = preview.data;
  return (
    <>
      <Select
        label="Format"
        description={formatHelp(format)}
        choices={formatChoices}
        value={format}
        onChange={(id) => change({ format: id })}
      />
      {format === 'template' && (
        <TextArea
          label="Template"
          description={
            form.id === null
              ? 'Placeholders: {{form_name}}, {{answers}}, {{submission_url}}, and paths of the event, such as {{submission.responses.email}}.'
              : 'Placeholders: the IDs of questions, such as {{email}}, {{form_name}}, {{answers}}, {{submission_url}}, and paths of the event, such as {{submission.id}}.'
          }
          className="webhook-template"
          rows={6}
          spellCheck="false"
          value={template}
          onChange={(text) => change({ template: text })}
          error={error ?? preview.of('template')}
        />
      )}
      <div>
        <Button size="small" {...preview.press()}>
          Preview
        </Button>
      </div>
      {preview.error && !preview.of('template') && (
        <SaveErrorMessage>{preview.error.message}</SaveErrorMessage>
      )}
      {shown && (
        <CopyField
          label={
            shown.submission_id === null ? 'Body for a sample submission' : 'Body for the last submission'
          }
          text={prettifyJson(shown.body)}
          isMultiline
        />
      )}
    </>
  );
}

/** Returns the format to send, or nothing if it stays the same. */
export function formatToSend(
  { format, template }: FormatDraft,
  saved: FormatDraft,
): { format?: WebhookFormat; template?: string } {
  const isTemplate = format === 'template' && (template !== saved.template || format !== saved.format);
  return { ...(format !== saved.format && { format }), ...(isTemplate && { template }) };
}
