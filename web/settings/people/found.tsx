import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { Checkbox } from '../../design/checkbox.tsx';
import { Chip } from '../../design/chip.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import type { Trace } from './people-query.ts';

const kinds = {
  submission: 'Submission',
  spam: 'Spam box',
  invitation: 'Invitation',
  mail: 'Mail',
  event: 'Told of a deleted submission',
} as const satisfies Record<Trace['kind'], string>;

/** Where things of a kind are seen; what is not here is seen on no screen of a form. */
const screens: Partial<Record<Trace['kind'], string>> = {
  submission: '/forms/$form/submissions',
  spam: '/forms/$form/spam',
  invitation: '/forms/$form/invitations',
};

/** What is found, each with a box that is cleared for what is somebody else's. */
export function Found({
  traces,
  except,
  onExcept,
}: {
  traces: readonly Trace[];
  except: ReadonlySet<string>;
  onExcept: (id: string, isExcepted: boolean) => void;
}): ReactElement {
  const columns: readonly TableColumn<Trace>[] = [
    {
      id: 'what',
      title: 'What',
      cell: (trace) => (
        <Checkbox isSelected={!except.has(trace.id)} onChange={(isOn) => onExcept(trace.id, !isOn)}>
          {kinds[trace.kind]}
        </Checkbox>
      ),
    },
    { id: 'where', title: 'Where', cell: (trace) => <Where trace={trace} /> },
    {
      id: 'said',
      title: 'Found in',
      isSecondary: true,
      cell: ({ places }) => places.join(', ') || 'Its words',
    },
    { id: 'when', title: 'When', isSecondary: true, cell: ({ created_at }) => <Ago at={created_at} /> },
  ];
  return (
    <DataTable
      label="What is found"
      columns={columns}
      rows={traces}
      rowId={({ kind, id }) => `${kind} ${id}`}
    />
  );
}

function Where({
  trace: { kind, id, form_id, form_name, status, is_trashed },
}: {
  trace: Trace;
}): ReactElement {
  const name = form_name ?? 'No form';
  const screen = is_trashed ? '/forms/$form/trash' : screens[kind];
  return (
    <div className="row">
      {form_id === null || screen === undefined ? (
        <span>{name}</span>
      ) : (
        <Link
          to={screen}
          params={{ form: form_id }}
          search={screen === screens.submission ? { open: id } : {}}
        >
          {name}
        </Link>
      )}
      {is_trashed && <Chip>In the trash</Chip>}
      {status === 'incomplete' && <Chip>Incomplete</Chip>}
    </div>
  );
}
