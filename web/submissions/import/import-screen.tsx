import './import-screen.css';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import { queryClient } from '../../api/query-client.ts';
import { Button } from '../../design/button.tsx';
import { Message } from '../../design/message.tsx';
import { Card, Page } from '../../design/page.tsx';
import { useForm } from '../../shell/form-place.ts';
import { type FormPlace, refreshSubmissions } from '../queries.ts';
import { saySubmissions } from '../say-submissions.ts';
import { ImportColumns } from './import-columns.tsx';
import { ImportOutcome } from './import-outcome.tsx';
import { ImportsUnderWay } from './imports-under-way.tsx';
import { importPreviewQuery, importsQuery, type ImportSource, startImport } from './import-query.ts';
import { readSource } from './read-source.ts';

/** Makes submissions of a file: what its columns become, and what is wrong in it, are seen before. */
export function ImportScreen(): ReactElement {
  const form = useForm();
  return (
    <Page
      title="Import answers"
      width="narrow"
      lead={
        <Link to="/forms/$form/submissions" params={{ form: form.id }}>
          Back to the submissions
        </Link>
      }
    >
      <ImportsUnderWay form={form} />
      <ImportForm form={form} />
    </Page>
  );
}

function ImportForm({ form }: { form: FormPlace }): ReactElement {
  const [source, setSource] = useState<ImportSource>();
  const [name, setName] = useState<string>();
  const [unread, setUnread] = useState<string>();
  const preview = useQuery(importPreviewQuery(form, source));
  const start = useMutation({
    mutationFn: (chosen: ImportSource) => startImport(form, chosen),
    async onSuccess() {
      setSource(undefined);
      setName(undefined);
      await queryClient.invalidateQueries({ queryKey: importsQuery(form).queryKey });
      await refreshSubmissions(form);
    },
  });
  const choose = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    setName(file.name);
    start.reset();
    const read = await readSource(file);
    setUnread('problem' in read ? read.problem : undefined);
    setSource('problem' in read ? undefined : read.source);
  };
  const found = source && !preview.error ? preview.data : undefined;
  const isCurrent = found !== undefined && !preview.isFetching;
  const problem = unread ?? preview.error?.message ?? start.error?.message;
  return (
    <>
      <Card title="File">
        <p className="soft">
          A CSV file or an Excel workbook, whose first line names the columns: an export of a form here, or of
          another service. Up to 10,000 lines. Nobody is told of what is imported: no webhook, no mail.
        </p>
        <div className="row">
          <FileTrigger
            acceptedFileTypes={['text/csv', '.csv', '.tsv', '.txt', '.xlsx']}
            onSelect={(files) => void choose(files?.[0])}
          >
            <Button icon="file">Choose a file</Button>
          </FileTrigger>
          {name !== undefined && <span className="soft cut">{name}</span>}
        </div>
        {problem !== undefined && <Message tone="bad">{problem}</Message>}
      </Card>
      {source && found && (
        <>
          <Card title="Columns">
            <ImportColumns preview={found} onChange={(how) => setSource({ ...source, ...how })} />
          </Card>
          <Card title="What becomes of it">
            <ImportOutcome preview={found} />
          </Card>
          <div className="row">
            <Button
              variant="primary"
              isDisabled={!isCurrent || found.total === 0}
              isPending={start.isPending}
              onPress={() => start.mutate({ ...source, mapping: found.mapping })}
            >
              {found.total === 0 ? 'Import' : `Import ${saySubmissions(found.total)}`}
            </Button>
          </div>
        </>
      )}
    </>
  );
}
