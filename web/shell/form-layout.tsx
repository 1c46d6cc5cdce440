import './form-layout.css';
import { Link, Outlet } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { StatusChip } from '../design/chip.tsx';
import { Icon } from '../design/icon.tsx';
import { TabLinks } from '../design/tabs.tsx';
import { FinderFrame, FinderIcon } from './finder/finder-frame.tsx';
import { FormHeaderPlace } from './form-header-actions.tsx';
import { useForm } from './form-place.ts';
import { SkipLink } from './navigation.tsx';
import { formScreens } from './places.ts';
import { useSession } from './session.ts';

/** What the screens of one form share: the way back, its name and status, and the tabs between them. */
export function FormLayout(): ReactElement {
  const form = useForm();
  const { workspaces } = useSession();
  const [place, setPlace] = useState<HTMLElement | null>(null);
  const workspace = workspaces.find(({ id }) => id === form.workspace_id);
  const base = `/forms/${form.id}`;
  return (
    <FinderFrame>
      <div className="form-layout">
        <SkipLink />
        <header className="form-header">
          <div className="form-identity">
            <Link to="/w/$workspace/forms" params={{ workspace: form.workspace_id }} className="form-back">
              <Icon name="back" />
              <span className="unseen">All forms of {workspace?.name}</span>
            </Link>
            <span className="form-name cut">{form.name}</span>
            <StatusChip status={form.status} />
            <FinderIcon />
          </div>
          <TabLinks
            label={`Form ${form.name}`}
            links={formScreens.map(({ path, ...link }) => ({
              ...link,
              to: base + path,
              isExact: path === '',
            }))}
          />
          <div className="form-actions" ref={setPlace} />
        </header>
        <FormHeaderPlace value={place}>
          <main className="form-main" id="main" tabIndex={-1}>
            <Outlet />
          </main>
        </FormHeaderPlace>
      </div>
    </FinderFrame>
  );
}
