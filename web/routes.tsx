import { createRootRoute, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router';
import type { Session } from '#workspaces/sign-in/session-shapes.ts';
import { ApiProblem } from './api/client.ts';
import { queryClient } from './api/query-client.ts';
import { parseBuilderAddress } from './builder/builder-address.ts';
import { workspaceQuery } from './settings/workspace.ts';
import { ConsoleLayout, ConsoleRoot, FormLayout } from './shell/layouts.tsx';
import { FailedFrame, FailedScreen, lazyScreen, NotFoundScreen, PendingScreen } from './shell/screens.tsx';
import { formQuery, lastWorkspace, rememberWorkspace, sessionQuery } from './shell/session.ts';

const root = createRootRoute({
  component: ConsoleRoot,
  errorComponent: FailedFrame,
  notFoundComponent: NotFoundScreen,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyScreen(() => import('./account/sign-in-screen.tsx'), 'SignInScreen'),
});

const signedIn = createRoute({
  getParentRoute: () => root,
  path: '/signed-in',
  component: lazyScreen(() => import('./account/sign-in-screen.tsx'), 'ProviderReturnScreen'),
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyScreen(() => import('./account/password-screens.tsx'), 'ForgotPasswordScreen'),
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password/$token',
  component: lazyScreen(() => import('./account/password-screens.tsx'), 'ResetPasswordScreen'),
});

const join = createRoute({
  getParentRoute: () => root,
  path: '/join/$token',
  component: lazyScreen(() => import('./account/join-screen.tsx'), 'JoinScreen'),
});

/** Steps to complete before the console opens. The first one that is due is shown. */
const stages = [
  { path: '/second-step', isDue: ({ second_steps }: Session) => second_steps !== null },
  { path: '/leaving', isDue: ({ user }: Session) => user.ends_at !== null },
  { path: '/new-password', isDue: ({ user }: Session) => user.must_change_password },
] as const;

/**
 * All routes that require signing in. People who are not signed in go to the sign-in page and come back
 * afterwards.
 */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Outlet,
  errorComponent: FailedFrame,
  async beforeLoad({ location }) {
    try {
      const session = await queryClient.ensureQueryData(sessionQuery);
      const stage = stages.find(({ isDue }) => isDue(session));
      if (stage && location.pathname !== stage.path)
        throw redirect({ to: stage.path, search: { next: location.href } });
      if (!stage && stages.some(({ path }) => path === location.pathname)) throw redirect({ to: '/' });
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

const newPassword = createRoute({
  getParentRoute: () => inside,
  path: '/new-password',
  component: lazyScreen(() => import('./account/pending-sign-in-screens.tsx'), 'NewPasswordScreen'),
});

const leaving = createRoute({
  getParentRoute: () => inside,
  path: '/leaving',
  component: lazyScreen(() => import('./account/pending-sign-in-screens.tsx'), 'AccountDeletionScreen'),
});

const secondStep = createRoute({
  getParentRoute: () => inside,
  path: '/second-step',
  component: lazyScreen(() => import('./account/pending-sign-in-screens.tsx'), 'TwoFactorScreen'),
});

const secondFactor = createRoute({
  getParentRoute: () => inside,
  path: '/second-factor',
  component: lazyScreen(() => import('./account/pending-sign-in-screens.tsx'), 'TwoFactorSetupScreen'),
});

/**
 * Makes the person set up two-factor before they open a workspace that requires it.
 * @param id the ID of the workspace; undefined for a form, whose workspace the server does not reveal.
 */
async function requireOpen(href: string, id?: string): Promise<void> {
  const { closed_workspaces: closed } = await queryClient.ensureQueryData(sessionQuery);
  if (id === undefined ? closed.length > 0 : closed.includes(id))
    throw redirect({ to: '/second-factor', search: { next: href } });
}

const console = createRoute({ getParentRoute: () => inside, id: 'console', component: ConsoleLayout });
const workspace = createRoute({
  getParentRoute: () => console,
  path: '/w/$workspace',
  component: Outlet,
  async loader({ params, location }) {
    await requireOpen(location.href, params.workspace);
    await queryClient.ensureQueryData(workspaceQuery(params.workspace));
    rememberWorkspace(params.workspace);
  },
});

const form = createRoute({
  getParentRoute: () => inside,
  path: '/forms/$form',
  component: FormLayout,
  errorComponent: FailedFrame,
  async loader({ params, location }) {
    try {
      const found = await queryClient.ensureQueryData(formQuery(params.form));
      rememberWorkspace(found.workspace_id);
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 403) await requireOpen(location.href);
      throw error;
    }
  },
});

/** All routes of the console under /app. Each screen is loaded when it is first shown. */
const routeTree = root.addChildren([
  signIn,
  signedIn,
  forgotPassword,
  resetPassword,
  join,
  inside.addChildren([
    home,
    newPassword,
    secondStep,
    leaving,
    secondFactor,
    console.addChildren([
      createRoute({
        getParentRoute: () => console,
        path: '/account',
        component: lazyScreen(() => import('./account/account-screen.tsx'), 'AccountScreen'),
      }),
      workspace.addChildren([
        createRoute({
          getParentRoute: () => workspace,
          path: '/forms',
          component: lazyScreen(() => import('./forms/forms-screen.tsx'), 'FormsScreen'),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/submissions',
          component: lazyScreen(() => import('./submissions/screens/all-forms.tsx'), 'AllSubmissionsScreen'),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/general',
          component: lazyScreen(() => import('./settings/general-screen.tsx'), 'GeneralScreen'),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/members',
          component: lazyScreen(() => import('./settings/members-screen.tsx'), 'MembersScreen'),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/keys',
          component: lazyScreen(() => import('./settings/keys/keys-screen.tsx'), 'KeysScreen'),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/webhooks',
          component: lazyScreen(
            () => import('./webhooks/screens/webhooks-screen.tsx'),
            'WorkspaceWebhooksScreen',
          ),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/webhooks/$webhook',
          component: lazyScreen(
            () => import('./webhooks/screens/webhook-screen.tsx'),
            'WorkspaceWebhookScreen',
          ),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/mail',
          component: lazyScreen(() => import('./settings/mail.tsx'), 'EmailLogScreen'),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/domains',
          component: lazyScreen(() => import('./settings/domains-screen.tsx'), 'DomainsScreen'),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/retention',
          component: lazyScreen(() => import('./settings/retention.tsx'), 'RetentionScreen'),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/people',
          component: lazyScreen(() => import('./settings/people/people-screen.tsx'), 'PeopleScreen'),
        }),
        createRoute({
          getParentRoute: () => workspace,
          path: '/settings/activity',
          component: lazyScreen(() => import('./settings/audit.tsx'), 'AuditScreen'),
        }),
      ]),
    ]),
    form.addChildren([
      createRoute({
        getParentRoute: () => form,
        path: '/',
        validateSearch: parseBuilderAddress,
        component: lazyScreen(() => import('./builder/builder-screen.tsx'), 'BuilderScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/submissions',
        component: lazyScreen(
          () => import('./submissions/screens/submissions-screen.tsx'),
          'SubmissionsScreen',
        ),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/submissions/$submission',
        component: lazyScreen(() => import('./submissions/panel/panel-container.tsx'), 'SubmissionScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/import',
        component: lazyScreen(() => import('./submissions/import/import-screen.tsx'), 'ImportScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/trash',
        component: lazyScreen(() => import('./submissions/screens/trash.tsx'), 'TrashScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/spam',
        component: lazyScreen(() => import('./submissions/spam/spam-screen.tsx'), 'SpamScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/summary',
        component: lazyScreen(() => import('./submissions/screens/summary-screen.tsx'), 'SummaryScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/invitations',
        component: lazyScreen(() => import('./invitations/invitations-screen.tsx'), 'InvitationsScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/invitations/new',
        component: lazyScreen(() => import('./invitations/invite-screen.tsx'), 'InviteScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/webhooks',
        component: lazyScreen(() => import('./webhooks/screens/webhooks-screen.tsx'), 'WebhooksScreen'),
      }),
      createRoute({
        getParentRoute: () => form,
        path: '/webhooks/$webhook',
        component: lazyScreen(() => import('./webhooks/screens/webhook-screen.tsx'), 'WebhookScreen'),
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
