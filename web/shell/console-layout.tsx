import './console-layout.css';
import { Outlet, useLocation } from '@tanstack/react-router';
import { type ReactElement, useEffect, useState } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { IconButton } from '../design/button.tsx';
import { Logo } from '../design/icon.tsx';
import { FinderFrame, FinderIcon } from './finder/finder-frame.tsx';
import { Navigation, SkipLink } from './navigation.tsx';
import { useCurrentWorkspace } from './session.ts';

/** The frame of a workspace's screens: navigation beside them, behind a button where there is no room for it. */
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
