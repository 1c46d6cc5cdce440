import hooks, { AsyncLocalStorage } from 'node:async_hooks';

/*
 * node:test finds the test that a call of `test` or `after` stands in, or that an error comes out of, by a hook on every
 * promise of the process: an eighth of all that tests take. Here it finds the same by an AsyncLocalStorage, which costs
 * nothing. It takes its parts while it is loaded, so this comes before it.
 */
const { AsyncResource, createHook, executionAsyncId } = hooks;
const within = new AsyncLocalStorage<number>();
let callbacks: hooks.HookCallbacks = {};

/** What node:test makes its tests of: each is announced, and what it runs is within it, however late. */
class Announced extends AsyncResource {
  constructor(...parameters: ConstructorParameters<typeof AsyncResource>) {
    super(...parameters);
    callbacks.init?.(this.asyncId(), parameters[0], within.getStore() ?? this.triggerAsyncId(), this);
  }

  override runInAsyncScope<This, Result>(
    work: (this: This, ...parameters: unknown[]) => Result,
    self?: This,
    ...parameters: unknown[]
  ): Result {
    return super.runInAsyncScope(() =>
      within.run(this.asyncId(), () => work.apply(self as This, parameters)),
    );
  }
}

Object.assign(hooks, {
  AsyncResource: Announced,
  createHook(given: hooks.HookCallbacks) {
    callbacks = given;
    return { enable() {}, disable() {} };
  },
  executionAsyncId: () => within.getStore() ?? executionAsyncId(),
});
process.getBuiltinModule('node:test');
Object.assign(hooks, { AsyncResource, createHook, executionAsyncId });
