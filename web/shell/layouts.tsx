import './console-layout.css';
import './form-layout.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useRouter } from '@tanstack/react-router';
import { type ReactElement, useEffect, useState } from 'react';
import { RouterProvider } from 'react-aria-components';
import { Dialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { queryClient } from '../api/query-client.ts';
import { IconButton } from '../design/button.tsx';
import { StatusChip } from '../design/chip.tsx';
import { Icon, Logo } from '../design/icon.tsx';
import { TabLinks } from '../design/tabs.tsx';
import { ToastRegion } from '../design/toast.tsx';
import { FinderFrame, FinderIcon } from './finder-frame.tsx';
import { FormHeaderSlot } from './form-header-actions.tsx';
import { Navigation, SkipLink } from './navigation.tsx';
import { formScreens } from './screen-links.ts';
import { useCurrentForm, useCurrentWorkspace, useSession } from './session.ts';

/**
 * The frame around a workspace's screens, with the navigation at the side, or behind a button on small
 * screens.
 */
export function ConsoleLayout(): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  const workspace = useCurrentWorkspace();
  useEffect(() => setOpen(false), [pathname]);
  return (
    <FinderFrame>
      <div className="console">
        <SkipLink />
        <aside className="console-side">
          <Navigation />
        </aside>
        <header className="console-top">
          <IconButton icon="menu" label="Menu" onPress={() => setOpen(true)} />
          <Logo />
          <span className="console-place cut">{workspace?.name}</span>
          <FinderIcon />
        </header>
        <ModalOverlay className="drawer-veil" isOpen={isOpen} onOpenChange={setOpen} isDismissable>
          <Modal className="drawer">
            <Dialog className="drawer-frame" aria-label="Menu">
              <Navigation />
            </Dialog>
          </Modal>
        </ModalOverlay>
        <main className="console-main" id="main" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
    </FinderFrame>
  );
}

/** The frame around a form's screens: a link back, the name, the status and the tabs. */
export function FormLayout(): ReactElement {
  const form = useCurrentForm();
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
              <span className="unseen">All forms in {workspace?.name}</span>
            </Link>
            <span className="form-name cut">{form.name}</span>
            <StatusChip status={form.status} />
            <FinderIcon />
          </div>
          <TabLinks
            label={`Form ${form.name}`}
            links={formScreens.map(({ path, screens, ...link }) => ({
              ...link,
              to: base + path,
              isExact: path === '',
              screens: (screens ?? []).map((screen) => base + screen),
            }))}
          />
          <div className="form-actions" ref={setPlace} />
        </header>
        <FormHeaderSlot value={place}>
          <main className="form-main" id="main" tabIndex={-1}>
            <Outlet />
          </main>
        </FormHeaderSlot>
      </div>
    </FinderFrame>
  );
}

/**
 * Does what a browser does on a page load: announces the title, and moves the focus to the beginning if the
 * focused element is gone.
 */
function Announcer(): ReactElement {
  const router = useRouter();
  const [title, setTitle] = useState('');
  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
        if (!pathChanged || !fromLocation) return;
        // A screen that is still loading sets its title later.
        setTimeout(() => {
          setTitle(document.title);
          if (document.activeElement === document.body) document.getElementById('main')?.focus();
        }, 100);
      }),
    [router],
  );
  return (
    <p className="unseen" role="status">
      {title}
    </p>
  );
}

/** Wraps every screen. Links in react-aria menus also go through the router. */
export function ConsoleRoot(): ReactElement {
  const router = useRouter();
  return (
    <QueryClientProvider client={queryClient}>
      <RouterProvider
        navigate={(path) => void router.navigate({ to: path })}
        useHref={(path) => (path.startsWith('/app/') ? path : `/app${path}`)}
      >
        <Outlet />
        <Announcer />
        <ToastRegion />
      </RouterProvider>
    </QueryClientProvider>
  );
}
