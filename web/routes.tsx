import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  type RouteComponent,
} from '@tanstack/react-router';
import { ApiProblem } from './api/client.ts';
import { queryClient } from './api/query-client.ts';
import { ConsoleLayout } from './shell/console-layout.tsx';
import { formQuery } from './shell/form-place.ts';
import { workspaceQuery } from './settings/workspace.ts';
import { FormLayout } from './shell/form-layout.tsx';
import { Root } from './shell/root.tsx';
import { FailedFrame, FailedScreen, NotFoundScreen, PendingScreen } from './shell/screens.tsx';
import { lastWorkspace, rememberWorkspace, sessionQuery } from './shell/session.ts';

/** Screens by the file that holds them, each loaded when it is first shown. */
const files = import.meta.glob<Record<string, RouteComponent>>(
  './{account,builder,forms,settings,submissions,webhooks}/*-screen.tsx',
);
const screen = (file: string, name: string): RouteComponent =>
  lazyRouteComponent(files[`./${file}.tsx`] ?? missing(file), name);
const missing = (file: string) => (): Promise<never> =>
  Promise.reject(new Error(`web/${file}.tsx is not there`));

const root = createRootRoute({ component: Root, errorComponent: FailedFrame, notFoundComponent: NotFoundScreen });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: screen('account/sign-in-screen', 'SignInScreen'),
});

/** Everything behind the sign-in: who is not signed in goes there, and comes back to where they wanted to be. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Outlet,
  errorComponent: FailedFrame,
  async beforeLoad({ location }) {
    try {
      await queryClient.ensureQueryData(sessionQuery);
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 401)
        throw redirect({ to: '/sign-in', search: { next: location.href } });
      throw error;
    }
  },
});

const home = createRoute({
  getParentRoute: () => inside,
  path: '/',
  async beforeLoad() {
    const workspace = lastWorkspace(await queryClient.ensureQueryData(sessionQuery));
    if (workspace) throw redirect({ to: '/w/$workspace/forms', params: { workspace: workspace.id } });
    throw redirect({ to: '/account' });
  },
});

const console = createRoute({ getParentRoute: () => inside, id: 'console', component: ConsoleLayout });
const workspace = createRoute({
  getParentRoute: () => console,
  path: '/w/$workspace',
  component: Outlet,
  async loader({ params }) {
    await queryClient.ensureQueryData(workspaceQuery(params.workspace));
    rememberWorkspace(params.workspace);
  },
});

const form = createRoute({
  getParentRoute: () => inside,
  path: '/forms/$form',
  component: FormLayout,
  errorComponent: FailedFrame,
  async loader({ params }) {
    const found = await queryClient.ensureQueryData(formQuery(params.form));
    rememberWorkspace(found.workspace_id);
  },
});

/** Every address of the console, below /app. */
const routeTree = root.addChildren([
  signIn,
  inside.addChildren([
    home,
    console.addChildren([
      createRoute({
        getParentRoute: () => console,
        path: '/account',
        component: screen('account/account-screen', 'AccountScreen'),
      }),
      workspace.addChildren([
        createRoute({
          getParentRoute: () => workspace,
          path: '/forms',
          component: screen('forms/forms-screen', 'FormsScreen'),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/general',
          component: screen('settings/general-screen', 'GeneralScreen'),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/members',
          component: screen('settings/members-screen', 'MembersScreen'),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/keys',
          component: screen('settings/keys-screen', 'KeysScreen'),
        }),
      ]),
    ]),
    form.addChildren([
      createRoute({
        getParentRoute: () => form,
        path: '/',
        component: screen('builder/builder-screen', 'BuilderScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/submissions',
        component: screen('submissions/submissions-screen', 'SubmissionsScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/summary',
        component: screen('submissions/summary-screen', 'SummaryScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/webhooks',
        component: screen('webhooks/webhooks-screen', 'WebhooksScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/webhooks/$webhook',
        component: screen('webhooks/webhook-screen', 'WebhookScreen'),
      }),
    ]),
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: '/app',
  defaultPreload: 'intent',
  defaultPendingComponent: PendingScreen,
  defaultPendingMs: 300,
  defaultErrorComponent: FailedScreen,
  defaultNotFoundComponent: NotFoundScreen,
  notFoundMode: 'root',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
