// Written by `npm run console:client` from the OpenAPI document of the gateway. Do not edit.
export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where API and documentation are
         * @description Browsers are redirected to the console.
         */
        get: operations["RootController_index"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Alerts of the Prometheus in `console.prometheus_url`, at most 5 s old */
        get: operations["AdminAlertsController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who changed what, newest first */
        get: operations["AdminAuditController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/catalogue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Models of the catalogue that have files to download */
        get: operations["AdminCatalogueController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/catalogue/{name}/add": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Download a model of the catalogue and serve it
         * @description Runs `switchyard models add` and returns at once; then the models file is read again. One at a time. An interrupted download resumes.
         */
        post: operations["AdminCatalogueController_add"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/catalogue/{name}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop the download of a model; what has arrived is kept */
        post: operations["AdminCatalogueController_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/catalogue/{name}/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show how far another program is that fetches a model
         * @description For `switchyard models starter`, which fetches in a process of its own: every two seconds. The answer has the state `cancelled` once after somebody stopped it here.
         */
        post: operations["AdminCatalogueController_report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/catalogue/additions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Models that are being added, and how the last ones ended */
        get: operations["AdminCatalogueController_listAdditions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/dependencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Redis, database and blob store as last probed, and why one is down */
        get: operations["AdminDependenciesController_dependencies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/devices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Devices that models share: what is on them, and what waits for what */
        get: operations["AdminDevicesController_find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/doctor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What `switchyard doctor` finds on the machine of this gateway
         * @description It takes seconds: models, programs, libraries, folders and servers are looked at. One run at a time.
         */
        get: operations["AdminDoctorController_check"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The last hour in steps of 10 s
         * @description Of this gateway since it started. With a shared queue, `waiting` and `in_flight` are of all gateways.
         */
        get: operations["AdminHistoryController_find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** API keys, without their secrets */
        get: operations["AdminKeysController_list"];
        put?: never;
        /**
         * Create an API key
         * @description The answer is the only place where the key appears.
         */
        post: operations["AdminKeysController_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description In effect on this gateway at once, on others within 5 s.
         */
        delete: operations["AdminKeysController_revoke"];
        options?: never;
        head?: never;
        /**
         * Change name, scopes, models, limits or expiry of an API key
         * @description What is absent stays as it is. In effect on this gateway at once, on others within 5 s; open sessions and batches keep the scopes, models and priority that they began with.
         */
        patch: operations["AdminKeysController_update"];
        trace?: never;
    };
    "/admin/v1/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret of an API key
         * @description Sessions that are open stay open: they belong to the key, not to its secret.
         */
        post: operations["AdminKeysController_rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Last lines of the log of this gateway, or all from now on
         * @description At most 2000 lines, of the levels that `logging.level` lets pass. A reader of the event stream that is too slow loses lines and is told how many.
         */
        get: operations["AdminLogsController_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Models: loaded or not, their workers, when last used */
        get: operations["AdminModelsController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/models/{id}/load": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start the workers of a model
         * @description Returns at once; GET shows when it is loaded.
         */
        post: operations["AdminModelsController_load"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/models/{id}/unload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop the workers of a model
         * @description Returns at once; running requests finish. Waiting and new ones get 503 `model_unloaded`, or start the model again with `autostart: on_request`.
         */
        post: operations["AdminModelsController_unload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/models/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Serve the models file as it is now
         * @description Adds, replaces and removes models without a restart; a file with errors changes nothing. Running requests finish; requests that wait for a removed model get 503 `model_unloaded`.
         */
        post: operations["AdminModelsController_reload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Depth by model and priority, bounds, oldest wait */
        get: operations["AdminQueueController_queue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List requests
         * @description Waiting ones in dispatch order, then running ones.
         */
        get: operations["AdminRequestsController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/requests/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One request, and why it waits */
        get: operations["AdminRequestsController_find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/requests/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel one request */
        post: operations["AdminRequestsController_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/requests/{id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same for a request of any tenant */
        get: operations["AdminRequestsController_explain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/requests/{id}/priority": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a waiting request another priority
         * @description Its place in the other lane follows from its enqueue time, and its age still counts.
         */
        post: operations["AdminRequestsController_changePriority"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/requests/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel many requests
         * @description Those that match every field given.
         */
        post: operations["AdminRequestsController_cancelMany"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Live sessions of this gateway */
        get: operations["AdminSessionsController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/sessions/{id}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a live session
         * @description Its last words are finished; it closes with 1008.
         */
        post: operations["AdminSessionsController_end"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Effective settings and where each came from */
        get: operations["AdminSettingsController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What this gateway does now, and what limits it */
        get: operations["AdminStatusController_find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tenants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tenants: their keys, limits and usage of today */
        get: operations["AdminUsageController_tenants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Usage by day, tenant, key and model */
        get: operations["AdminUsageController_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Workers: state, slots, restarts, how the last one ended */
        get: operations["AdminWorkersController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workers/{id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a worker nothing more until it is resumed
         * @description Returns at once. Running requests and live streams finish, waiting requests stay queued. It stays drained when it reconnects, restarts or its model is loaded again, but not when the gateway restarts. A worker that takes its requests from the shared queue sees the order within a second, and stays drained until its process ends.
         */
        post: operations["AdminWorkersController_drain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workers/{id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Last lines that a worker wrote, and what happened to its process
         * @description At most 500 lines. Of a worker on another machine only what this gateway noticed.
         */
        get: operations["AdminLogsController_worker"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workers/{id}/restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drain a worker, replace its process, and resume it
         * @description Returns at once. Only workers that this gateway started, and that do not pull their requests.
         */
        post: operations["AdminWorkersController_restart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workers/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a drained worker requests again
         * @description Also cancels a restart that waits.
         */
        post: operations["AdminWorkersController_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Messages to a message, streamed or whole, as Ollama
         * @description Without `stream: false` the answer is lines of JSON (`application/x-ndjson`); a failure after the first line is a line with `error`. Until the first token comes, waiting and reading the prompt count as `prompt_eval_duration`.
         */
        post: operations["OllamaController_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/embed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Text to vectors, likewise */
        post: operations["OllamaController_embed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/generate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A prompt to its answer, likewise
         * @description Without `stream: false` the answer is lines of JSON (`application/x-ndjson`); a failure after the first line is a line with `error`. Until the first token comes, waiting and reading the prompt count as `prompt_eval_duration`.
         */
        post: operations["OllamaController_generate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Models that are loaded, likewise */
        get: operations["OllamaModelsController_loaded"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pull": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refused, with the command that adds a model
         * @description Refused, with the command.
         */
        post: operations["OllamaController_pull"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refused
         * @description Refused.
         */
        post: operations["OllamaController_push"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a model can do, likewise */
        post: operations["OllamaModelsController_show"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Models and their aliases, likewise */
        get: operations["OllamaModelsController_tags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Version of this gateway, likewise */
        get: operations["OllamaModelsController_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/asr": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Audio to text, as whisper-asr-webservice */
        post: operations["WhisperAsrController_transcribe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The console: what the server is doing, in a browser */
        get: operations["ConsoleController_index"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console/{view}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A view of the console */
        get: operations["ConsoleController_view"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console/{view}/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One request or batch in the console */
        get: operations["ConsoleController_detail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console/assets/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Scripts and styles of the console */
        get: operations["ConsoleController_asset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who is signed in at the console */
        get: operations["ConsoleSessionController_find"];
        put?: never;
        /**
         * Sign in with a key; sets a cookie
         * @description The cookie lasts 12 hours, or as long as the token of the OIDC issuer that signed in.
         */
        post: operations["ConsoleSessionController_signIn"];
        /** Sign out */
        delete: operations["ConsoleSessionController_signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/detect-language": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Language of audio, likewise */
        post: operations["WhisperAsrController_detect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/detokenize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tokens of a model to text
         * @description The text of tokens.
         */
        post: operations["TokensController_detokenize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Live feed: Socket.IO with `transports: ["websocket"]` */
        get: operations["PollingController_refuse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Summary for people: models, workers, dependencies, draining */
        get: operations["HealthController_summary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** 200 while the process serves */
        get: operations["HealthController_live[0]"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** 200 while requests can be served, else 503 */
        get: operations["HealthController_ready[0]"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** 200 while the process serves */
        get: operations["HealthController_live[1]"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Prometheus metrics */
        get: operations["MetricsController_scrape"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** 200 while requests can be served, else 503 */
        get: operations["HealthController_ready[1]"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokenize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Text to tokens of a model
         * @description Tokens of a text.
         */
        post: operations["TokensController_tokenize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audio/speech": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Text to audio
         * @description Chunked: the first bytes leave while the rest is still being made.
         */
        post: operations["SpeechController_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audio/speech/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a request; its caller receives 499 at once */
        post: operations["CancellationsController_cancel[2]"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audio/transcriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Audio to text
         * @description `curl -F file=@speech.wav -F model=whisper-1 http://localhost:8000/v1/audio/transcriptions`
         */
        post: operations["TranscriptionsController_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audio/transcriptions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a request; its caller receives 499 at once */
        post: operations["CancellationsController_cancel[0]"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audio/translations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Audio to English text
         * @description `curl -F file=@speech.wav -F model=whisper-1 http://localhost:8000/v1/audio/translations`
         */
        post: operations["TranslationsController_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audio/translations/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a request; its caller receives 499 at once */
        post: operations["CancellationsController_cancel[1]"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audio/voices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Voices of the speech models */
        get: operations["VoicesController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List batches */
        get: operations["BatchesController_list"];
        put?: never;
        /** Run the lines of a file */
        post: operations["BatchesController_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One batch: status, counts, rate, ETA */
        get: operations["BatchesController_retrieve"];
        put?: never;
        post?: never;
        /** Delete a finished batch; its files stay */
        delete: operations["BatchesController_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a batch; what is done is kept */
        post: operations["BatchesController_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches/{id}/retry-failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A new batch of the lines that failed */
        post: operations["BatchesController_retryFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Messages to a message, streamed or whole
         * @description Fields that the gateway does not know are forwarded to the engine unchanged.
         */
        post: operations["CompletionsController_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Text to its continuation
         * @description Fields that the gateway does not know are forwarded to the engine unchanged.
         */
        post: operations["CompletionsController_complete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Text to vectors
         * @description Requests that wait together are computed together. Fields that the gateway does not know are forwarded to the engine unchanged.
         */
        post: operations["CompletionsController_embed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List files */
        get: operations["FilesController_list"];
        put?: never;
        /**
         * Upload a file
         * @description `curl -F purpose=batch -F file=@requests.jsonl http://localhost:8000/v1/files`
         */
        post: operations["FilesController_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One file */
        get: operations["FilesController_retrieve"];
        put?: never;
        post?: never;
        /** Delete a file */
        delete: operations["FilesController_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Bytes of a file, or a range of them */
        get: operations["FilesController_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Messages to a message in blocks, streamed or whole
         * @description Another dialect of chat, as `@anthropic-ai/sdk` and Claude Code speak it. `x-api-key` is a key of this gateway; versions and beta headers are ignored. Errors have the envelope of that dialect.
         */
        post: operations["MessagesController_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages/count_tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tokens that the input of a message comes to
         * @description Counted by the model, which draws one token for it.
         */
        post: operations["MessagesController_count"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Models and their aliases */
        get: operations["ModelsController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One model, by id or alias */
        get: operations["ModelsController_retrieve"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/realtime/client_secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Short-lived token for a browser */
        post: operations["ClientSecretsController_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/realtime/transcription_sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The same in the older dialect */
        post: operations["ClientSecretsController_createOlder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where a request is and why it waits */
        get: operations["RequestsController_find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a request; its caller receives 499 at once */
        post: operations["CancellationsController_cancel[3]"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The answer of a request that was not waited for */
        get: operations["StoredContentController_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is ahead of a request, when it starts, what would change that */
        get: operations["RequestsController_explain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rerank": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** How relevant documents are to a query */
        post: operations["RerankController_rerank"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Items to items, streamed or whole
         * @description The same models as chat. Items have the same ids in the stream and in the response.
         */
        post: operations["ResponsesController_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A stored response, or the events of one that runs in the background */
        get: operations["StoredResponsesController_retrieve"];
        put?: never;
        post?: never;
        /** Delete a stored response */
        delete: operations["StoredResponsesController_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a background response */
        post: operations["StoredResponsesController_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{id}/input_items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Items of the input of a stored response */
        get: operations["StoredResponsesController_inputItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/compact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A conversation to one that is shorter
         * @description The model sums the conversation up: it is queued and counted like any other request.
         */
        post: operations["ResponsesController_compact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/input_tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tokens that the input of a response comes to
         * @description The model reads the input and draws one token: it is queued and counted like any other request.
         */
        post: operations["ResponsesController_countInput"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin a file that comes in parts */
        post: operations["UploadsController_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/uploads/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Forget the parts */
        post: operations["UploadsController_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/uploads/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a file of the parts */
        post: operations["UploadsController_complete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/uploads/{id}/parts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Add a part of at most 64 MiB */
        post: operations["UploadsController_addPart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AdminModelChangesDto: {
            added: string[];
            /** @description Computed by new workers once the old ones have ended their work. */
            changed: string[];
            removed: string[];
        };
        AdminModelDto: {
            /** @enum {string} */
            autostart: "always" | "on_request";
            /** @example moonshine-tiny-en */
            id: string;
            /** @description Seconds without work until it is unloaded. */
            idle_unload_s?: number;
            /** @description Unix seconds at which it was last needed, or made ready to be. */
            last_used: number;
            /** @description Why it has failed. */
            reason?: string;
            /** @description Requests and live streams that its workers have now. */
            running: number;
            /** @description While it is unloaded, the next request starts it. */
            starts_on_request: boolean;
            /**
             * @description failed: each worker has ended, cannot be reached or is drained.
             * @enum {string}
             */
            state: "unloaded" | "loading" | "loaded" | "unloading" | "failed";
            workers: components["schemas"]["WorkerDto"][];
        };
        AdminModelListDto: {
            data: components["schemas"]["AdminModelDto"][];
        };
        AheadByReasonDto: {
            /** @description Came earlier, or aged batch requests in their turns. */
            age: number;
            /** @description Came later, of tenants that had less device time. */
            fairness: number;
            /** @description Realtime requests, before a batch one. */
            priority: number;
        };
        AlertDto: {
            /** @example SwitchyardQueueFull */
            name: string;
            /**
             * @description What to do: a web address, or a path of the manual.
             * @example docs/operate/runbook.md#switchyardqueuefull
             */
            runbook_url?: string;
            /** @example warning */
            severity?: string;
            /** @description Unix seconds. */
            since: number;
            /** @enum {string} */
            state: "pending" | "firing";
            summary?: string;
        };
        AlertListDto: {
            /** @description Whether `console.prometheus_url` is set. */
            configured: boolean;
            /** @description Firing ones first; at most 100. */
            data: components["schemas"]["AlertDto"][];
            /** @enum {string} */
            object: "list";
            /** @description Why Prometheus could not be asked. */
            problem?: string;
        };
        ApiKeyDto: {
            /** @description Unix seconds. */
            created_at: number | null;
            /** @enum {string|null} */
            default_priority: "realtime" | "batch" | null;
            /** @description Unix seconds. */
            expires_at: number | null;
            /** @example key_0198a1b2c3d4 */
            id: string;
            /** @description Unix seconds, at most a minute old. */
            last_used_at: number | null;
            /** @description Its own limits; null: those of its tenant. */
            limits: Record<string, never> | null;
            /** @description The only models it may use; null: all. */
            models: string[] | null;
            name: string;
            /** @enum {string} */
            object: "api_key";
            /** @description First characters of the secret. */
            prefix: string | null;
            /** @description Unix seconds. */
            revoked_at: number | null;
            scopes: ("inference" | "admin" | "events")[];
            /**
             * @description file: the keys file; setting: auth.key. Both are changed by hand only.
             * @enum {string}
             */
            source: "database" | "file" | "setting";
            tenant: string;
        };
        ApiKeyListDto: {
            /** @description Those of the keys file or auth.key, then those of the database, newest first. */
            data: components["schemas"]["ApiKeyDto"][];
            has_more: boolean;
            /** @enum {string} */
            object: "list";
        };
        AsrFormDto: {
            /**
             * Format: binary
             * @description The audio, up to `server.upload_limit_bytes`.
             */
            audio_file: string;
        };
        AuditActorDto: {
            /** @description Id of the key; null: no keys are asked for. */
            key: string | null;
            tenant: string;
        };
        AuditEntryDto: {
            /** @example POST /admin/v1/keys/:id/rotate */
            action: string;
            actor: components["schemas"]["AuditActorDto"];
            /** @description Unix seconds. */
            at: number;
            /** @description What was asked, as JSON, cut at 500 characters. */
            detail: string | null;
            id: string;
            /**
             * @description `ok`, or the code of the refusal.
             * @example ok
             */
            outcome: string;
            request_id: string;
            /** @description Id of what was changed. */
            target: string | null;
        };
        AuditListDto: {
            /** @description Newest first. */
            data: components["schemas"]["AuditEntryDto"][];
            has_more: boolean;
            /** @enum {string} */
            object: "list";
        };
        BatchCreateDto: {
            /**
             * @description a number and s, m, h or d, from 60s to 7d, such as 30m or 24h. OpenAI knows 24h only.
             * @example 24h
             */
            completion_window: string;
            /**
             * @description Every line goes there.
             * @enum {string}
             */
            endpoint: "/v1/chat/completions" | "/v1/completions" | "/v1/embeddings" | "/v1/responses" | "/v1/audio/transcriptions" | "/v1/audio/translations" | "/v1/audio/speech";
            /**
             * @description Uploaded with the purpose `batch`.
             * @example file-0198a1b2c3d47e5f8091a2b3c4d5e6f7
             */
            input_file_id: string;
            /** @description `validation: lenient` sends bad lines to the error file; else they fail the batch. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Of the result files; 30 days unless told otherwise. */
            output_expires_after?: components["schemas"]["ExpiresAfterDto"];
            /** @description Ours: told when the batch ends, signed. */
            webhook?: components["schemas"]["BatchWebhookDto"];
        };
        BatchDto: {
            cancelled_at: number | null;
            cancelling_at: number | null;
            completed_at: number | null;
            /** @example 24h */
            completion_window: string;
            /** @description Unix seconds, as all times here. */
            created_at: number;
            /** @enum {string} */
            endpoint: "/v1/chat/completions" | "/v1/completions" | "/v1/embeddings" | "/v1/responses" | "/v1/audio/transcriptions" | "/v1/audio/translations" | "/v1/audio/speech";
            error_file_id: string | null;
            errors: components["schemas"]["BatchErrorsDto"] | null;
            /** @description Seconds until the last line, at that rate. */
            eta_s: number | null;
            expired_at: number | null;
            /** @description The deadline. */
            expires_at: number;
            failed_at: number | null;
            finalizing_at: number | null;
            /** @example batch_0198a1b2c3d47e5f8091a2b3c4d5e6f7 */
            id: string;
            in_progress_at: number | null;
            input_file_id: string;
            metadata: {
                [key: string]: string;
            };
            /** @description When all lines name the same. */
            model: string | null;
            /** @example batch */
            object: string;
            output_file_id: string | null;
            /** @description Lines per second so far, while in progress. */
            rate_per_s: number | null;
            /** @description Live. */
            request_counts: components["schemas"]["RequestCountsDto"];
            /** @description The batch whose failed lines these are. */
            retry_of: string | null;
            /** @enum {string} */
            status: "validating" | "in_progress" | "finalizing" | "cancelling" | "completed" | "failed" | "expired" | "cancelled";
            usage: components["schemas"]["BatchUsageDto"] | null;
            webhook: components["schemas"]["BatchWebhookDto"] | null;
        };
        BatchErrorDto: {
            code: string;
            /** @description From 1. */
            line: number | null;
            message: string;
            param: string | null;
        };
        BatchErrorsDto: {
            /** @description At most 100. */
            data: components["schemas"]["BatchErrorDto"][];
            /** @example list */
            object: string;
        };
        BatchListDto: {
            data: components["schemas"]["BatchDto"][];
            first_id: string | null;
            has_more: boolean;
            last_id: string | null;
            /** @example list */
            object: string;
        };
        BatchUsageDto: {
            input_tokens: number;
            input_tokens_details: components["schemas"]["InputTokensDetailsDto"];
            output_tokens: number;
            output_tokens_details: components["schemas"]["OutputTokensDetailsDto"];
            total_tokens: number;
        };
        BatchWebhookDto: {
            /** @example https://example.com/hooks/batch */
            url: string;
        };
        BottleneckDto: {
            /** @enum {string} */
            kind: "draining" | "disk_full" | "dependency_down" | "model_away" | "no_worker" | "workers_lost" | "requests_fail" | "tenant_floods" | "queue_grows" | "slots_full";
            /** @description Null: it concerns all models. */
            model: string | null;
            /** @description What limits the gateway now, and what would help. */
            text: string;
        };
        CancellationDto: {
            /** @description true when this call cancelled it; false when it was unknown, finished or cancelled before. */
            cancelled: boolean;
            /** @example req_0198a1b2c3d4 */
            request_id: string;
        };
        CancelledRequestsDto: {
            /**
             * @example [
             *       "req_0198a1b2c3d4"
             *     ]
             */
            cancelled: string[];
        };
        CancelRequestsDto: {
            /** @description Say true to cancel everything; needed when no filter is given. */
            all?: boolean;
            /**
             * @description Canonical model id.
             * @example moonshine-tiny-en
             */
            model?: string;
            /** @enum {string} */
            priority?: "realtime" | "batch";
            /** @enum {string} */
            state?: "queued" | "running";
            /**
             * @description Whose requests.
             * @example acme
             */
            tenant?: string;
        };
        CatalogueDto: {
            data: components["schemas"]["CatalogueModelDto"][];
            /** @enum {string} */
            object: "list";
        };
        CatalogueModelDto: {
            /** @description Of its files, as far as known. */
            bytes: number;
            /** @example MIT */
            licence?: string;
            /** @example whisper-small */
            name: string;
            summary: string;
            /** @description Why it cannot run here; absent: it can. */
            unavailable?: string;
        };
        ChangePriorityDto: {
            /**
             * @example realtime
             * @enum {string}
             */
            priority: "realtime" | "batch";
        };
        ChatCompletionDto: {
            frequency_penalty?: number;
            /**
             * @description Needs a model with that capability.
             * @default false
             */
            logprobs: boolean;
            /** @description Most tokens of each choice. */
            max_completion_tokens?: number;
            /** @description Older name of `max_completion_tokens`. */
            max_tokens?: number;
            /**
             * @description At least one message, each with a `role`.
             * @example [
             *       {
             *         "role": "user",
             *         "content": "What does a switchyard do?"
             *       }
             *     ]
             */
            messages: Record<string, never>[];
            /**
             * @description A model id or alias; see `GET /v1/models`.
             * @example gpt-4o-mini
             */
            model: string;
            /**
             * @description Choices.
             * @default 1
             */
            n: number;
            presence_penalty?: number;
            /**
             * @description `realtime` or `batch`, as in the `X-Priority` header, which wins. Values of other servers are ignored, and passed on to none.
             * @enum {string}
             */
            priority?: "realtime" | "batch";
            /** @description Forwarded digit by digit. */
            seed?: number;
            /**
             * @description `priority` and `fast` are queued as REALTIME, the rest as BATCH. The `X-Priority` header wins over it. The answer reports the tier that was used.
             * @default auto
             * @enum {string}
             */
            service_tier: "auto" | "default" | "flex" | "scale" | "priority" | "fast";
            stop?: string | string[];
            /**
             * @description Chunks as server-sent events, then `[DONE]`.
             * @default false
             */
            stream: boolean;
            /** @description Only with `stream`. `include_usage`: one more chunk, with the usage, at the end. */
            stream_options?: {
                include_usage?: boolean;
            };
            temperature?: number;
            /** @description Needs a model with that capability; calls of them pass through as they are. */
            tools?: Record<string, never>[];
            /** @description Only with `logprobs`. */
            top_logprobs?: number;
            top_p?: number;
        };
        CompletionDto: {
            frequency_penalty?: number;
            /** @description Needs a model with that capability. */
            logprobs?: number;
            /** @description Most tokens of each choice. */
            max_tokens?: number;
            /**
             * @description A model id or alias; see `GET /v1/models`.
             * @example gpt-4o-mini
             */
            model: string;
            /**
             * @description Choices.
             * @default 1
             */
            n: number;
            presence_penalty?: number;
            /**
             * @description `realtime` or `batch`, as in the `X-Priority` header, which wins. Values of other servers are ignored, and passed on to none.
             * @enum {string}
             */
            priority?: "realtime" | "batch";
            /**
             * @description A text, its tokens, or a list of either; at most 2048 of them times `n`.
             * @example A switchyard is
             */
            prompt: string | unknown[];
            /** @description Forwarded digit by digit. */
            seed?: number;
            /**
             * @description `priority` and `fast` are queued as REALTIME, the rest as BATCH. The `X-Priority` header wins over it. The answer reports the tier that was used.
             * @default auto
             * @enum {string}
             */
            service_tier: "auto" | "default" | "flex" | "scale" | "priority" | "fast";
            stop?: string | string[];
            /**
             * @description Chunks as server-sent events, then `[DONE]`.
             * @default false
             */
            stream: boolean;
            /** @description Only with `stream`. `include_usage`: one more chunk, with the usage, at the end. */
            stream_options?: {
                include_usage?: boolean;
            };
            temperature?: number;
            top_p?: number;
        };
        ConsoleLinksDto: {
            /** @description `console.manual_url`; may be empty. */
            manual: string;
            /** @description `console.trace_url`; may be empty. */
            trace: string;
        };
        ConsoleSessionDto: {
            /** @description Whether the server asks for keys at all. */
            keys_required: boolean;
            /** @description Links to other servers, for the scope admin. */
            links?: components["schemas"]["ConsoleLinksDto"];
            scopes: ("inference" | "admin" | "events")[];
            signed_in: boolean;
            /** @description Whose data is shown; empty when not signed in. */
            tenant: string;
        };
        CountsAheadDto: {
            /** @description Requests by the reason why they go first. */
            by: components["schemas"]["AheadByReasonDto"];
            /** @description Other tenants that have some of them. */
            other_tenants: number;
            /** @description Of the same tenant. */
            own: number;
            requests: number;
        };
        CreateKeyDto: {
            /**
             * @description Of its requests that state none; null: that of the model.
             * @enum {string|null}
             */
            default_priority?: "realtime" | "batch" | null;
            /** @description Unix seconds; null: it never expires. */
            expires_at?: number | null;
            /** @description From now on; instead of expires_at. */
            expires_in_days?: number;
            /**
             * @description All of its own limits in place of `limits.*`: requests_per_day, requests_per_minute, tokens_per_minute, audio_seconds_per_minute, concurrent_requests, weight, max_deadline_ms; null: none.
             * @example {
             *       "requests_per_minute": 60
             *     }
             */
            limits?: Record<string, never> | null;
            /** @description Ids or aliases of the only models it may use; null: all. */
            models?: string[] | null;
            /**
             * @description For people: who uses it and for what.
             * @example web shop
             */
            name: string;
            /**
             * @default [
             *       "inference"
             *     ]
             */
            scopes: ("inference" | "admin" | "events")[];
            /** @example acme */
            tenant: string;
        };
        DeletionDto: {
            /** @example true */
            deleted: boolean;
            id: string;
            /**
             * @description What was deleted.
             * @example file
             */
            object: string;
        };
        DependenciesDto: {
            data: components["schemas"]["DependencyDto"][];
        };
        DependencyDto: {
            /** @description End of the last probe, ISO 8601. */
            checked_at?: string;
            /** @description Why it is down. */
            error?: string;
            /** @enum {string} */
            name: "redis" | "database" | "blobs";
            /** @description Since when, ISO 8601. */
            since: string;
            /** @enum {string} */
            status: "up" | "down" | "unknown";
        };
        DetectedLanguageDto: {
            /** @description Always null: engines do not tell it. */
            confidence: number | null;
            /** @example english */
            detected_language: string;
            /** @example en */
            language_code: string;
        };
        DetokenizeDto: {
            /**
             * @description A model of kind `llm`.
             * @example gpt-4o-mini
             */
            model: string;
            /**
             * @example [
             *       1,
             *       300,
             *       301
             *     ]
             */
            tokens: number[];
        };
        DeviceDto: {
            /** @description The last 15 minutes, oldest first. */
            history: components["schemas"]["DeviceSpanDto"][];
            /** @example gpu0 */
            id: string;
            /**
             * @description Another gateway, which loads its models and knows what is on it.
             * @example gw_0198a1b2
             */
            loaded_by?: string;
            /** @description That its models share. */
            memory_bytes: number;
            models: components["schemas"]["DeviceModelDto"][];
            next?: components["schemas"]["NextSwapDto"];
            /** @description Of models that are loaded, loading or leaving. */
            used_bytes: number;
        };
        DeviceModelDto: {
            /** @description What these wait for, while it is not loaded. */
            awaited?: string;
            /** @example qwen3-8b */
            id: string;
            memory_bytes: number;
            /** @description Requests and sessions that it has. */
            running: number;
            /**
             * @description Null: it is not on this device.
             * @enum {string|null}
             */
            stage: "loading" | "resident" | "leaving" | null;
            /** @description Requests and sessions that wait for it. */
            waiting: number;
        };
        DevicesDto: {
            data: components["schemas"]["DeviceDto"][];
        };
        DeviceSpanDto: {
            /** @description Unix seconds, with fractions. */
            from: number;
            /** @example qwen3-8b */
            model: string;
            /** @enum {string} */
            stage: "loading" | "resident" | "leaving";
            /** @description Null: until now. */
            to: number | null;
        };
        DiagnosisDto: {
            detail: string;
            /** @description The command or the change that puts it right. */
            fix?: string;
            /**
             * @description warn: works without; fail: will not work as configured.
             * @enum {string}
             */
            state: "ok" | "warn" | "fail";
            /** @example ffmpeg */
            what: string;
        };
        DoctorDto: {
            checks: components["schemas"]["DiagnosisDto"][];
            /** @description Nothing failed. */
            ok: boolean;
        };
        DurationUsageDto: {
            /**
             * @description Seconds of audio, rounded up.
             * @example 4
             */
            seconds: number;
            /** @example duration */
            type: string;
        };
        EmbeddingDto: {
            /** @description Needs a model with that capability. */
            dimensions?: number;
            /**
             * @description `base64`: 32-bit floats, little endian; SDKs ask for it by themselves.
             * @default float
             * @enum {string}
             */
            encoding_format: "float" | "base64";
            /**
             * @example [
             *       "The train is on the right track.",
             *       "Every request has a place in the queue."
             *     ]
             */
            input: string | unknown[];
            /**
             * @description A model id or alias; see `GET /v1/models`.
             * @example text-embedding-3-small
             */
            model: string;
            /**
             * @description `realtime` or `batch`, as in the `X-Priority` header, which wins. Values of other servers are ignored, and passed on to none.
             * @enum {string}
             */
            priority?: "realtime" | "batch";
            /**
             * @description `priority` and `fast` are queued as REALTIME, the rest as BATCH. The `X-Priority` header wins over it.
             * @default auto
             * @enum {string}
             */
            service_tier: "auto" | "default" | "flex" | "scale" | "priority" | "fast";
        };
        EndedSessionDto: {
            /** @description False: there is no such session on this gateway. */
            ended: boolean;
            session_id: string;
        };
        ErrorBody: {
            /** @example model_not_found */
            code: string | null;
            /** @example The model `whisper-9` does not exist. */
            message: string;
            /**
             * @description The field at fault.
             * @example model
             */
            param: string | null;
            /** @example invalid_request_error */
            type: string;
        };
        ErrorEnvelope: {
            error: components["schemas"]["ErrorBody"];
        };
        ExpiresAfterDto: {
            /** @enum {string} */
            anchor: "created_at";
            /** @example 86400 */
            seconds: number;
        };
        ExplainedRequestDto: {
            /** @description BATCH that has its share of the turns beside realtime because of its age. */
            aged: boolean;
            /** @description Waiting requests that are dispatched before it. */
            ahead?: components["schemas"]["CountsAheadDto"];
            /** @description Workers it was given to. */
            attempts: number;
            /** @description What would let it start clearly sooner. */
            changes?: components["schemas"]["WaitChangeDto"][];
            /** @description Error code, once it failed or was cancelled. */
            code?: string;
            /** @description Unix seconds. */
            completed_at?: number;
            /** @description Its answer as it would have been sent. */
            content_url?: string;
            /** @description Unix seconds. */
            created_at?: number;
            /** @example /v1/audio/transcriptions */
            endpoint?: string;
            /** @description Why it failed or was cancelled, as in the envelope. */
            error?: Record<string, never>;
            /** @description Unix seconds; afterwards it is forgotten. */
            expires_at?: number;
            /** @description Why it waits, or how it ended, in a sentence. */
            explanation: string;
            /** @description While it waits or runs; absent: unknown. */
            forecast?: components["schemas"]["RequestForecastDto"];
            /** @description Absent: only the gateway that has it knows. */
            model?: string;
            /** @description Requests that were dispatched while it waited, of the last 2000 of its model. */
            passed?: components["schemas"]["CountsAheadDto"];
            phases: components["schemas"]["RequestPhasesDto"];
            /** @description 1-based place in the queue of its model; while queued. */
            position?: number;
            /** @enum {string} */
            priority: "realtime" | "batch";
            /** @example req_0198a1b2c3d4 */
            request_id: string;
            /** @description Its answer, when that is JSON of at most 64 KiB. */
            result?: Record<string, never>;
            slots?: components["schemas"]["SlotsInUseDto"];
            /** @enum {string} */
            state: "queued" | "running" | "completed" | "failed" | "cancelled";
            /**
             * @description Of a stored request; ended once its content can be fetched.
             * @enum {string}
             */
            status?: "queued" | "running" | "completed" | "failed" | "cancelled";
            /**
             * @description Status of its answer.
             * @example 200
             */
            status_code?: number;
            /** @description Whose it is. */
            tenant?: string;
            /** @description Milliseconds in the queue. */
            waited_ms: number;
            /**
             * @description What it waits for, while queued; device: its model is to be loaded on one.
             * @enum {string}
             */
            waits_for?: "device" | "worker" | "slot" | "window" | "turn";
            /** @description The worker that has it, or had it last. */
            worker?: string;
        };
        FileCreateDto: {
            /**
             * @description As `expires_after[anchor]`, `expires_after[seconds]`.
             * @example
             */
            expires_after?: components["schemas"]["ExpiresAfterDto"];
            /**
             * Format: binary
             * @description The bytes, up to `files.max_bytes`.
             */
            file: string;
            /**
             * @description `batch`: at most 200 MiB and 50,000 lines, kept for 30 days.
             * @example batch
             * @enum {string}
             */
            purpose: "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals";
        };
        FileDto: {
            /** @example 120000 */
            bytes: number;
            /**
             * @description Unix seconds, as all times here.
             * @example 1763683200
             */
            created_at: number;
            /** @example 1766275200 */
            expires_at?: number;
            /** @example requests.jsonl */
            filename: string;
            /** @example file-0198a1b2c3d47e5f8091a2b3c4d5e6f7 */
            id: string;
            /** @example file */
            object: string;
            /** @enum {string} */
            purpose: "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals" | "batch_output";
            /** @example processed */
            status: string;
        };
        FileListDto: {
            data: components["schemas"]["FileDto"][];
            first_id: string | null;
            has_more: boolean;
            last_id: string | null;
            /** @example list */
            object: string;
        };
        FoundRequestDto: {
            /** @description BATCH that has its share of the turns beside realtime because of its age. */
            aged: boolean;
            /** @description Who is ahead of it in the queue of its model. */
            ahead?: components["schemas"]["RequestsAheadDto"][];
            /** @description Workers it was given to. */
            attempts: number;
            /** @description Error code, once it failed or was cancelled. */
            code?: string;
            /** @description Unix seconds. */
            completed_at?: number;
            /** @description Its answer as it would have been sent. */
            content_url?: string;
            /** @description Unix seconds. */
            created_at?: number;
            /** @example /v1/audio/transcriptions */
            endpoint?: string;
            /** @description Why it failed or was cancelled, as in the envelope. */
            error?: Record<string, never>;
            /** @description Unix seconds; afterwards it is forgotten. */
            expires_at?: number;
            /** @description Why it waits, or how it ended, in a sentence. */
            explanation: string;
            /** @description While it waits or runs; absent: unknown. */
            forecast?: components["schemas"]["RequestForecastDto"];
            /** @description Absent: only the gateway that has it knows. */
            model?: string;
            phases: components["schemas"]["RequestPhasesDto"];
            /** @description 1-based place in the queue of its model; while queued. */
            position?: number;
            /** @enum {string} */
            priority: "realtime" | "batch";
            /** @example req_0198a1b2c3d4 */
            request_id: string;
            /** @description Its answer, when that is JSON of at most 64 KiB. */
            result?: Record<string, never>;
            /** @enum {string} */
            state: "queued" | "running" | "completed" | "failed" | "cancelled";
            /**
             * @description Of a stored request; ended once its content can be fetched.
             * @enum {string}
             */
            status?: "queued" | "running" | "completed" | "failed" | "cancelled";
            /**
             * @description Status of its answer.
             * @example 200
             */
            status_code?: number;
            /** @description Whose it is. */
            tenant?: string;
            /** @description Milliseconds in the queue. */
            waited_ms: number;
            /**
             * @description What it waits for, while queued; device: its model is to be loaded on one.
             * @enum {string}
             */
            waits_for?: "device" | "worker" | "slot" | "window" | "turn";
            /** @description The worker that has it, or had it last. */
            worker?: string;
        };
        HistoryDto: {
            /** @description Begin of the first step, Unix seconds; absent: no step has ended yet. */
            from?: number;
            /** @enum {string} */
            object: "history";
            points: components["schemas"]["HistoryPointDto"][];
            /**
             * @description Length of a step in seconds.
             * @example 10
             */
            step_s: number;
        };
        HistoryPointDto: {
            /** @description End of the step, Unix seconds. */
            at: number;
            /** @description By model. A model with nothing to report is absent: all its numbers are 0. */
            models: {
                [key: string]: components["schemas"]["ModelPointDto"];
            };
        };
        InputTokensDetailsDto: {
            cache_write_tokens: number;
            cached_tokens: number;
        };
        IssuedKeyDto: {
            /** @description Unix seconds. */
            created_at: number | null;
            /** @enum {string|null} */
            default_priority: "realtime" | "batch" | null;
            /** @description Unix seconds. */
            expires_at: number | null;
            /** @example key_0198a1b2c3d4 */
            id: string;
            /** @description Unix seconds, at most a minute old. */
            last_used_at: number | null;
            /** @description Its own limits; null: those of its tenant. */
            limits: Record<string, never> | null;
            /** @description It is the first key: from now on every request needs one. */
            makes_keys_required: boolean;
            /** @description The only models it may use; null: all. */
            models: string[] | null;
            name: string;
            /** @enum {string} */
            object: "api_key";
            /** @description First characters of the secret. */
            prefix: string | null;
            /** @description Unix seconds. */
            revoked_at: number | null;
            scopes: ("inference" | "admin" | "events")[];
            /**
             * @description The key itself. It is shown here only.
             * @example sk-switchyard-…
             */
            secret: string;
            /**
             * @description file: the keys file; setting: auth.key. Both are changed by hand only.
             * @enum {string}
             */
            source: "database" | "file" | "setting";
            tenant: string;
        };
        LiveSessionDto: {
            /** @description Audio received so far. */
            audio_seconds: number;
            /** @example sess_0a1b2c3d4e5f60718293a4b5 */
            id: string;
            /** @description As the client named it. */
            model: string;
            /** @description Unix seconds. */
            started_at: number;
            /**
             * @description detached: its connection was lost; it can be resumed.
             * @enum {string}
             */
            state: "attached" | "detached";
            /** @description True while it holds a streaming slot. */
            streaming: boolean;
            tenant: string;
        };
        LiveSessionListDto: {
            data: components["schemas"]["LiveSessionDto"][];
        };
        LogDto: {
            data: components["schemas"]["LogLineDto"][];
            /** @enum {string} */
            object: "list";
        };
        LogLineDto: {
            /**
             * @description Unix seconds, with milliseconds.
             * @example 1767225600.123
             */
            at: number;
            /** @enum {string} */
            level: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
            /** @description Message, then further fields as JSON; at most 2048 characters. */
            text: string;
        };
        MessageDto: {
            /**
             * @description Most tokens of the answer.
             * @example 64
             */
            max_tokens: number;
            /**
             * @description Of `user`, `assistant` and `system`: a text, or blocks: `text`, `image`, `tool_use`, `tool_result`, `thinking`.
             * @example [
             *       {
             *         "role": "user",
             *         "content": "What does a switchyard do?"
             *       }
             *     ]
             */
            messages: Record<string, never>[];
            /** @description `user_id`: the end user. */
            metadata?: Record<string, never>;
            /**
             * @description A model id or alias; see `GET /v1/models`.
             * @example gpt-4o-mini
             */
            model: string;
            /** @description `format`: `json_schema` with a `schema` that the answer is held to. */
            output_config?: Record<string, never>;
            /** @description The older place of `output_config.format`. */
            output_format?: Record<string, never>;
            stop_sequences?: string[];
            /**
             * @description Server-sent events.
             * @default false
             */
            stream: boolean;
            /** @description Goes before the conversation: a text, or blocks of text. */
            system?: string | Record<string, never>[];
            temperature?: number;
            /** @description `enabled` and `disabled` reach the chat template as `enable_thinking`; models think as long as they do. */
            thinking?: Record<string, never>;
            /** @description `auto`, `any`, `none`, or `tool` with its `name`. */
            tool_choice?: Record<string, never>;
            /** @description Needs a model with the capability `tools`. */
            tools?: Record<string, never>[];
            top_k?: number;
            top_p?: number;
        };
        MessageInputDto: {
            /**
             * @description Of `user`, `assistant` and `system`: a text, or blocks: `text`, `image`, `tool_use`, `tool_result`, `thinking`.
             * @example [
             *       {
             *         "role": "user",
             *         "content": "What does a switchyard do?"
             *       }
             *     ]
             */
            messages: Record<string, never>[];
            /**
             * @description A model id or alias; see `GET /v1/models`.
             * @example gpt-4o-mini
             */
            model: string;
            /** @description `format`: `json_schema` with a `schema` that the answer is held to. */
            output_config?: Record<string, never>;
            /** @description The older place of `output_config.format`. */
            output_format?: Record<string, never>;
            /** @description Goes before the conversation: a text, or blocks of text. */
            system?: string | Record<string, never>[];
            /** @description `enabled` and `disabled` reach the chat template as `enable_thinking`; models think as long as they do. */
            thinking?: Record<string, never>;
            /** @description `auto`, `any`, `none`, or `tool` with its `name`. */
            tool_choice?: Record<string, never>;
            /** @description Needs a model with the capability `tools`. */
            tools?: Record<string, never>[];
        };
        ModelAdditionDto: {
            /** @description The last lines of `switchyard models add`. */
            lines: string[];
            /** @example whisper-small */
            name: string;
            /** @description Unix seconds. */
            started_at: number;
            /** @enum {string} */
            state: "running" | "added" | "failed" | "cancelled";
        };
        ModelAdditionListDto: {
            /** @description The newest first; at most 8. */
            data: components["schemas"]["ModelAdditionDto"][];
            /** @enum {string} */
            object: "list";
        };
        ModelDto: {
            /**
             * @example [
             *       "transcribe",
             *       "word_timestamps"
             *     ]
             */
            capabilities: string[];
            /**
             * @description Unix seconds at which this gateway started.
             * @example 1763683200
             */
            created: number;
            /** @example whisper-1 */
            id: string;
            /** @enum {string} */
            kind: "stt" | "tts" | "llm" | "embedding";
            /**
             * @description BCP-47; empty: any.
             * @example [
             *       "en"
             *     ]
             */
            languages: string[];
            /** @example model */
            object: string;
            /** @example switchyard */
            owned_by: string;
            /**
             * @description The canonical id, which labels metrics and logs.
             * @example moonshine-tiny-en
             */
            root: string;
            /**
             * @description unloaded: its workers are stopped; most often the next request starts them and waits.
             * @enum {string}
             */
            state: "unloaded" | "loading" | "loaded" | "unloading" | "failed";
            /**
             * @description Voice names of a TTS model.
             * @example []
             */
            voices: string[];
        };
        ModelListDto: {
            data: components["schemas"]["ModelDto"][];
            /** @example list */
            object: string;
        };
        ModelPointDto: {
            /** @description Accepted into the queue. */
            arrived: number;
            cancelled: number;
            completed: number;
            failed: number;
            /** @description At the end of the step. */
            in_flight: number;
            /** @description At the end of the step. */
            oldest_wait_ms: number;
            /** @description Rejected by the queue; `arrived` does not count them. */
            refused: number;
            /** @description Of the requests that a worker took in the step; within 5 %. */
            wait_p50_ms?: number;
            wait_p95_ms?: number;
            /** @description At the end of the step. */
            waiting: number;
        };
        NextSwapDto: {
            /** @description The same in words. */
            explanation: string;
            /** @description Seconds until these are told to leave. Null: not before other requests are sent. */
            in_s: number | null;
            /** @description Models that leave for it, or leave already. */
            leaving: string[];
            /** @example whisper-large-v3 */
            model: string;
            /**
             * @description Why it is next.
             * @enum {string}
             */
            reason: "pin" | "realtime" | "aged" | "waiting" | "prewarm";
        };
        OllamaChatDto: {
            /** @description `json`, or a JSON schema. */
            format?: "json" | Record<string, never>;
            /**
             * @description Needs a model with that capability.
             * @default false
             */
            logprobs: boolean;
            /**
             * @description Each with `role` and `content`; `images`, `tool_calls`, `thinking`, `tool_name`.
             * @example [
             *       {
             *         "role": "user",
             *         "content": "What does a switchyard do?"
             *       }
             *     ]
             */
            messages: Record<string, never>[];
            /**
             * @description A model id or alias; `:latest` may follow it.
             * @example gpt-4o-mini
             */
            model: string;
            /** @description `num_predict`, `stop`, `seed`, `temperature`, `top_p`, `top_k`, `min_p`, `repeat_penalty`, penalties. */
            options?: {
                [key: string]: unknown;
            };
            /**
             * @description One JSON object per line.
             * @default true
             */
            stream: boolean;
            /** @description Reaches the chat template: `enable_thinking`, or `reasoning_effort`. */
            think?: boolean | string;
            /** @description Needs a model with the capability `tools`. */
            tools?: Record<string, never>[];
            /** @description Only with `logprobs`. */
            top_logprobs?: number;
        };
        OllamaEmbedDto: {
            /** @description Of models with the capability `dimensions`. */
            dimensions?: number;
            /**
             * @example [
             *       "on the right track"
             *     ]
             */
            input: string | unknown[];
            /**
             * @description A model id or alias; `:latest` may follow it.
             * @example gpt-4o-mini
             */
            model: string;
        };
        OllamaGenerateDto: {
            /** @description `json`, or a JSON schema. */
            format?: "json" | Record<string, never>;
            /** @description In base64. */
            images?: string[];
            /**
             * @description Needs a model with that capability.
             * @default false
             */
            logprobs: boolean;
            /**
             * @description A model id or alias; `:latest` may follow it.
             * @example gpt-4o-mini
             */
            model: string;
            /** @description `num_predict`, `stop`, `seed`, `temperature`, `top_p`, `top_k`, `min_p`, `repeat_penalty`, penalties. */
            options?: {
                [key: string]: unknown;
            };
            /** @example What does a switchyard do? */
            prompt?: string;
            /**
             * @description The prompt as it is, without a template.
             * @default false
             */
            raw: boolean;
            /**
             * @description One JSON object per line.
             * @default true
             */
            stream: boolean;
            /** @description Goes before the prompt. */
            system?: string;
            /** @description Reaches the chat template: `enable_thinking`, or `reasoning_effort`. */
            think?: boolean | string;
            /** @description Only with `logprobs`. */
            top_logprobs?: number;
        };
        OllamaShowDto: {
            /**
             * @description A model id or alias; `:latest` may follow it.
             * @example gpt-4o-mini
             */
            model: string;
        };
        OllamaTransferDto: {
            /** @example whisper-small */
            model?: string;
        };
        OutputTokensDetailsDto: {
            reasoning_tokens: number;
        };
        QuantilesDto: {
            /** @description Half of such requests need at most this. */
            p50: number;
            /** @description Nine in ten need at most this. */
            p90: number;
        };
        QueueBoundsDto: {
            max_bytes: number;
            max_bytes_per_model: number;
            max_requests: number;
            max_requests_per_model: number;
            /** @description Share of each bound that only realtime may use. */
            realtime_reserve: number;
        };
        QueueDto: {
            /** @description False once the server drains. */
            accepting: boolean;
            bounds: components["schemas"]["QueueBoundsDto"];
            models: components["schemas"]["QueueLineDto"][];
            total: components["schemas"]["QueueTotalDto"];
        };
        QueueLineDto: {
            batch: number;
            /** @description Bytes of the uploads that wait. */
            bytes: number;
            /** @example moonshine-tiny-en */
            model: string;
            /** @description Milliseconds; absent when nothing is queued. */
            oldest_wait_ms?: number;
            realtime: number;
            /** @description Requests that workers have now. */
            running: number;
        };
        QueueTotalDto: {
            batch: number;
            bytes: number;
            realtime: number;
            running: number;
        };
        ReportAdditionDto: {
            /**
             * @description What happens now.
             * @example model.bin  40 % of 138.5 MiB
             */
            line: string;
            /** @enum {string} */
            state: "running" | "added" | "failed" | "cancelled";
        };
        RequestCountsDto: {
            completed: number;
            failed: number;
            total: number;
        };
        RequestDto: {
            /** @description BATCH that has its share of the turns beside realtime because of its age. */
            aged: boolean;
            /** @description Workers it was given to. */
            attempts: number;
            /** @description Error code, once it failed or was cancelled. */
            code?: string;
            /** @description Unix seconds. */
            completed_at?: number;
            /** @description Its answer as it would have been sent. */
            content_url?: string;
            /** @description Unix seconds. */
            created_at?: number;
            /** @example /v1/audio/transcriptions */
            endpoint?: string;
            /** @description Why it failed or was cancelled, as in the envelope. */
            error?: Record<string, never>;
            /** @description Unix seconds; afterwards it is forgotten. */
            expires_at?: number;
            /** @description Why it waits, or how it ended, in a sentence. */
            explanation: string;
            /** @description While it waits or runs; absent: unknown. */
            forecast?: components["schemas"]["RequestForecastDto"];
            /** @description Absent: only the gateway that has it knows. */
            model?: string;
            phases: components["schemas"]["RequestPhasesDto"];
            /** @description 1-based place in the queue of its model; while queued. */
            position?: number;
            /** @enum {string} */
            priority: "realtime" | "batch";
            /** @example req_0198a1b2c3d4 */
            request_id: string;
            /** @description Its answer, when that is JSON of at most 64 KiB. */
            result?: Record<string, never>;
            /** @enum {string} */
            state: "queued" | "running" | "completed" | "failed" | "cancelled";
            /**
             * @description Of a stored request; ended once its content can be fetched.
             * @enum {string}
             */
            status?: "queued" | "running" | "completed" | "failed" | "cancelled";
            /**
             * @description Status of its answer.
             * @example 200
             */
            status_code?: number;
            /** @description Whose it is. */
            tenant?: string;
            /** @description Milliseconds in the queue. */
            waited_ms: number;
            /**
             * @description What it waits for, while queued; device: its model is to be loaded on one.
             * @enum {string}
             */
            waits_for?: "device" | "worker" | "slot" | "window" | "turn";
            /** @description The worker that has it, or had it last. */
            worker?: string;
        };
        RequestForecastDto: {
            /**
             * @description The queue run forward by its own rules; or, of an order that gateways share, the place there ÷ the rate.
             * @enum {string}
             */
            basis: "simulation" | "drain_rate";
            /** @description Milliseconds until it is answered. */
            end_in_ms: components["schemas"]["QuantilesDto"];
            /** @description Milliseconds until a worker takes it. */
            start_in_ms: components["schemas"]["QuantilesDto"];
        };
        RequestListDto: {
            data: components["schemas"]["RequestDto"][];
            /** @description Requests that match; `data` holds at most `limit` of them. */
            total: number;
        };
        RequestPhasesDto: {
            /** @description The part of queue_wait_ms spent waiting for a batch window. */
            batch_wait_ms?: number;
            grpc_ms?: number;
            queue_wait_ms?: number;
            /** @description The part of grpc_ms spent prepared, waiting for the device of the worker. */
            ready_ms?: number;
            total_ms?: number;
        };
        RequestsAheadDto: {
            /** @description Its requests that are dispatched before this one. */
            requests: number;
            tenant: string;
        };
        RerankDto: {
            /**
             * @description Texts, or objects with a `text`.
             * @example [
             *       "A switchyard sorts cars.",
             *       "Bread is baked at night."
             *     ]
             */
            documents: unknown[];
            /**
             * @description A model id or alias; see `GET /v1/models`.
             * @example bge-reranker-v2-m3
             */
            model: string;
            /**
             * @description `realtime` or `batch`, as in the `X-Priority` header, which wins. Values of other servers are ignored, and passed on to none.
             * @enum {string}
             */
            priority?: "realtime" | "batch";
            /** @example Where do trains change tracks? */
            query: string;
            /**
             * @description Each result holds its document.
             * @default false
             */
            return_documents: boolean;
            /**
             * @description As in embeddings.
             * @default auto
             * @enum {string}
             */
            service_tier: "auto" | "default" | "flex" | "scale" | "priority" | "fast";
            /** @description Most results; default all. */
            top_n?: number;
        };
        RerankedDocumentDto: {
            text: string;
        };
        RerankingDto: {
            /** @description Id of the request; as Cohere has it, with `meta`. */
            id: string;
            meta: {
                [key: string]: unknown;
            };
            /** @example bge-reranker-v2-m3 */
            model: string;
            /** @example list */
            object: string;
            /** @description The most relevant first. */
            results: components["schemas"]["RerankResultDto"][];
            usage: components["schemas"]["RerankUsageDto"];
        };
        RerankResultDto: {
            document?: components["schemas"]["RerankedDocumentDto"];
            /** @description Place in `documents`, from 0. */
            index: number;
            /**
             * @description The higher, the more relevant.
             * @example 0.98
             */
            relevance_score: number;
        };
        RerankUsageDto: {
            prompt_tokens: number;
            total_tokens: number;
        };
        ResponseDto: {
            /**
             * @description Answers at once; the work survives restarts.
             * @default false
             */
            background: boolean;
            frequency_penalty?: number;
            /**
             * @description `false`: nothing is generated; the next request can continue it.
             * @default true
             */
            generate: boolean;
            /** @description `message.output_text.logprobs`; others have nothing to add. */
            include?: string[];
            /**
             * @description A text, or items: messages (`input_text`, `input_image` by URL, `output_text`), `function_call`, `function_call_output`, `custom_tool_call`, `custom_tool_call_output`, `reasoning`, and `item_reference` where responses are stored. Items of hosted tools are left out and reported.
             * @example What does a switchyard do?
             */
            input?: string | Record<string, never>[];
            /** @description Goes before the conversation, as a message of the system. */
            instructions?: string;
            /** @description Most tokens of the answer. */
            max_output_tokens?: number;
            /** @description Of hosted tools, of which there are none. */
            max_tool_calls?: number;
            /** @description Labels, returned as they are: at most 16, keys of 64 and values of 512 characters. */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description A model id or alias; see `GET /v1/models`.
             * @example gpt-4o-mini
             */
            model: string;
            /**
             * @description Several calls in one answer.
             * @default true
             */
            parallel_tool_calls: boolean;
            presence_penalty?: number;
            /** @description Continues that response; needs stored responses. */
            previous_response_id?: string;
            /**
             * @description `realtime` or `batch`, as in the `X-Priority` header, which wins. Values of other servers are ignored, and passed on to none.
             * @enum {string}
             */
            priority?: "realtime" | "batch";
            /** @description Advice: equal beginnings are found without it. */
            prompt_cache_key?: string;
            /** @description `effort`: for models that know it. */
            reasoning?: {
                [key: string]: unknown;
            };
            /** @description Returned as it is. */
            safety_identifier?: string;
            /**
             * @description `priority` and `fast` are queued as REALTIME, the rest as BATCH. The `X-Priority` header wins over it. The answer reports the tier that was used.
             * @default auto
             * @enum {string}
             */
            service_tier: "auto" | "default" | "flex" | "scale" | "priority" | "fast";
            /** @description Default: true where responses are stored. */
            store?: boolean;
            /**
             * @description Events as the answer is made, then `[DONE]`.
             * @default false
             */
            stream: boolean;
            /** @description Only with `stream`. */
            stream_options?: {
                [key: string]: unknown;
            };
            temperature?: number;
            /** @description `format`: text, json_object or json_schema. */
            text?: {
                [key: string]: unknown;
            };
            /** @description `auto`, `none`, `required`, `{type: "function", name}`, or `{type: "allowed_tools", mode, tools}`. */
            tool_choice?: ("auto" | "none" | "required") | Record<string, never>;
            /** @description `function`, `custom`, and `namespace` of those; needs a model with the capability `tools`. Others are left out and reported. */
            tools?: Record<string, never>[];
            /** @description Alternatives of each token. */
            top_logprobs?: number;
            top_p?: number;
            /**
             * @description Nothing is cut: `auto` is advice.
             * @default disabled
             * @enum {string}
             */
            truncation: "auto" | "disabled";
            /** @description Returned as it is. */
            user?: string;
        };
        ResponseInputDto: {
            /**
             * @description A text, or items: messages (`input_text`, `input_image` by URL, `output_text`), `function_call`, `function_call_output`, `custom_tool_call`, `custom_tool_call_output`, `reasoning`, and `item_reference` where responses are stored. Items of hosted tools are left out and reported.
             * @example What does a switchyard do?
             */
            input?: string | Record<string, never>[];
            /** @description Goes before the conversation, as a message of the system. */
            instructions?: string;
            /**
             * @description A model id or alias; see `GET /v1/models`.
             * @example gpt-4o-mini
             */
            model: string;
            /**
             * @description Several calls in one answer.
             * @default true
             */
            parallel_tool_calls: boolean;
            /** @description Continues that response; needs stored responses. */
            previous_response_id?: string;
            /**
             * @description `realtime` or `batch`, as in the `X-Priority` header, which wins. Values of other servers are ignored, and passed on to none.
             * @enum {string}
             */
            priority?: "realtime" | "batch";
            /** @description `effort`: for models that know it. */
            reasoning?: {
                [key: string]: unknown;
            };
            /**
             * @description `priority` and `fast` are queued as REALTIME, the rest as BATCH. The `X-Priority` header wins over it. The answer reports the tier that was used.
             * @default auto
             * @enum {string}
             */
            service_tier: "auto" | "default" | "flex" | "scale" | "priority" | "fast";
            /** @description `format`: text, json_object or json_schema. */
            text?: {
                [key: string]: unknown;
            };
            /** @description `auto`, `none`, `required`, `{type: "function", name}`, or `{type: "allowed_tools", mode, tools}`. */
            tool_choice?: ("auto" | "none" | "required") | Record<string, never>;
            /** @description `function`, `custom`, and `namespace` of those; needs a model with the capability `tools`. Others are left out and reported. */
            tools?: Record<string, never>[];
            /**
             * @description Nothing is cut: `auto` is advice.
             * @default disabled
             * @enum {string}
             */
            truncation: "auto" | "disabled";
        };
        RotateKeyDto: {
            /**
             * @description Seconds that the present secret stays valid.
             * @default 0
             */
            grace_s: number;
        };
        ServerVadDto: {
            /** @default 300 */
            prefix_padding_ms: number;
            /** @default 200 */
            silence_duration_ms: number;
            /**
             * @description What counts as speech.
             * @default 0.5
             */
            threshold: number;
            /** @enum {string} */
            type: "server_vad";
        };
        SettingDto: {
            /** @description Few people need it. */
            advanced: boolean;
            /** @example a whole number from 1 to 1000000 */
            allowed: string;
            default: string | number | boolean;
            description: string;
            /** @example queue.max_requests */
            name: string;
            /**
             * @description File and line, or variable.
             * @example config/switchyard.yaml:12:3
             */
            origin?: string;
            /** @description It may hold a password: its value is never shown. */
            secret: boolean;
            /** @description It is not empty. */
            set: boolean;
            /** @enum {string} */
            source: "default" | "file" | "environment" | "argument";
            /** @description Null for a secret. */
            value: (string | number | boolean) | null;
            /** @example SWITCHYARD_QUEUE_MAX_REQUESTS */
            variable: string;
        };
        SettingListDto: {
            data: components["schemas"]["SettingDto"][];
            /** @enum {string} */
            object: "list";
        };
        SignInDto: {
            /**
             * @description An API key, or a token of the OIDC issuer.
             * @example sk-…
             */
            key: string;
        };
        SlotsInUseDto: {
            /** @description Requests that the workers of its model have. */
            in_use: number;
            /** @description Slots of the workers that are ready. */
            total: number;
        };
        SpeechDto: {
            /**
             * @description Plain text. Of SSML (`<speak>…</speak>`) only the text is spoken, and `input.ssml` is reported as ignored; a server behind the gateway gets it unchanged.
             * @example The quick brown fox jumps over the lazy dog.
             */
            input: string;
            /** @description Ignored by models that cannot follow them. */
            instructions?: string;
            /**
             * @description A model id or alias; see `GET /v1/models`.
             * @example tts-1
             */
            model: string;
            /**
             * @description pcm is 24 kHz mono s16le.
             * @default mp3
             * @enum {string}
             */
            response_format: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm";
            /**
             * @description `priority` and `fast` are queued as REALTIME, the rest as BATCH. The `X-Priority` header wins over it.
             * @default auto
             * @enum {string}
             */
            service_tier: "auto" | "default" | "flex" | "scale" | "priority" | "fast";
            /** @default 1 */
            speed: number;
            /**
             * @description `audio`: the bytes, chunked as they are made; `sse`: `speech.audio.delta` and `speech.audio.done` events.
             * @default audio
             * @enum {string}
             */
            stream_format: "audio" | "sse";
            /**
             * @description A voice of the model, by name, in any case of letters, or as `{"id": name}`.
             * @example alloy
             */
            voice: string;
        };
        StatusBatchesDto: {
            running: number;
            /** @description Not begun, or being validated. */
            waiting: number;
        };
        StatusDependencyDto: {
            /**
             * @description redis, database, blobs, batch_processor or disk.
             * @example database
             */
            name: string;
            /** @enum {string} */
            state: "up" | "down" | "unknown";
            /** @description Why it is down, or a figure of it; may be empty. */
            text: string;
        };
        StatusDto: {
            /** @description Null: the database does not answer. */
            batches: components["schemas"]["StatusBatchesDto"] | null;
            /** @description Null: nothing limits it. */
            bottleneck: components["schemas"]["BottleneckDto"] | null;
            dependencies: components["schemas"]["StatusDependencyDto"][];
            gateway: components["schemas"]["StatusGatewayDto"];
            models: components["schemas"]["StatusModelDto"][];
            /** @enum {string} */
            object: "status";
        };
        StatusGatewayDto: {
            /** @description It shuts down and accepts nothing new. */
            draining: boolean;
            /**
             * @description Another one after a restart; `source` in the live feed.
             * @example gw_0198a1b2
             */
            id: string;
            /**
             * @description ignored: `auth.allow_anonymous` takes the effect from keys.
             * @enum {string}
             */
            keys: "required" | "not_required" | "ignored";
            /** @description Unix seconds. */
            started_at: number;
            uptime_s: number;
            /** @example 0.2.0 */
            version: string;
        };
        StatusModelDto: {
            /** @example moonshine-tiny-en */
            id: string;
            /** @description Requests that workers have now. */
            in_flight: number;
            /** @description Milliseconds; 0 when nothing waits. */
            oldest_wait_ms: number;
            /** @description Of this gateway, over the last minute. */
            rates: components["schemas"]["StatusRatesDto"];
            slots: components["schemas"]["StatusSlotsDto"];
            /** @enum {string} */
            state: "unloaded" | "loading" | "loaded" | "unloading" | "failed";
            waiting: components["schemas"]["StatusWaitingDto"];
            workers: components["schemas"]["StatusWorkersDto"];
        };
        StatusRatesDto: {
            /** @description Accepted into the queue. */
            arrived_per_s: number;
            completed_per_s: number;
            failed_per_s: number;
            /** @description Rejected by the queue. */
            refused_per_s: number;
        };
        StatusSlotsDto: {
            free: number;
            total: number;
        };
        StatusWaitingDto: {
            /** @description Of `batch`: old enough to have turns beside realtime. Of this gateway only. */
            aged: number;
            batch: number;
            realtime: number;
        };
        StatusWorkersDto: {
            /** @description Drained by an operator. */
            drained: number;
            ready: number;
            total: number;
        };
        TenantDto: {
            /** @example acme */
            id: string;
            /** @description Keys that are not revoked. */
            keys: number;
            /**
             * @description By name; 0 = unlimited.
             * @example {
             *       "requests_per_minute": 60
             *     }
             */
            limits: Record<string, never>;
            /** @enum {string} */
            object: "tenant";
            /** @description Since 00:00 UTC. */
            usage_today: components["schemas"]["UsageTodayDto"];
            /** @description Its share of a busy model is this, divided by the weights of all who wait. */
            weight: number;
        };
        TenantListDto: {
            data: components["schemas"]["TenantDto"][];
            has_more: boolean;
            /** @enum {string} */
            object: "list";
        };
        TokenizeDto: {
            /** @description llama.cpp's name of `prompt`. */
            content?: string;
            /** @description A chat, in place of `prompt`. */
            messages?: Record<string, never>[];
            /**
             * @description A model of kind `llm`.
             * @example gpt-4o-mini
             */
            model: string;
            /** @example A switchyard is */
            prompt?: string;
        };
        TranscriptDto: {
            /** @example the quick brown fox jumps over the lazy dog */
            text: string;
            usage?: components["schemas"]["DurationUsageDto"];
        };
        TranscriptionDto: {
            /**
             * @description Where long audio is cut. `auto`: the server decides. An object, as JSON or as `chunking_strategy[type]` and so on, defines what counts as speech and how long a pause must be.
             * @example
             */
            chunking_strategy?: "auto" | components["schemas"]["ServerVadDto"];
            /**
             * Format: binary
             * @description The audio: flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, up to `server.upload_limit_bytes`. Required unless `file_url` is given.
             */
            file?: string;
            /**
             * Format: uri
             * @description Instead of `file`: http or https, fetched by the worker. Only public addresses and ports 80 and 443, unless `fetch.allow_hosts` says more; at most 5 redirects, `fetch.timeout_ms` and `server.upload_limit_bytes`.
             * @example
             */
            file_url?: string;
            /**
             * @description Ours: words and phrases to expect, repeated or separated by commas. Ignored by models that cannot use them.
             * @example []
             */
            hot_words?: string[];
            /**
             * @description Log probability per token, with `response_format=json`, of models that have them; ignored elsewhere.
             * @example []
             */
            "include[]"?: "logprobs"[];
            /**
             * @description Written form: `twenty five percent` becomes `25%`, in text and segments; words keep the spoken form. English only. The default is the `itn` of the model in `config/models.yaml` (false).
             * @example
             */
            itn?: boolean;
            /**
             * @description OpenAI's name for `hot_words`; an entry may hold commas. Both together are one list.
             * @example []
             */
            "keywords[]"?: string[];
            /**
             * @description Names for the voices of `known_speaker_references[]`; only with `response_format=diarized_json`.
             * @example []
             */
            "known_speaker_names[]"?: string[];
            /**
             * @description One data URL per name: 2 to 10 seconds of that voice alone, in any audio format, at most 2 MiB.
             * @example []
             */
            "known_speaker_references[]"?: string[];
            /**
             * @description BCP-47, such as `en`, or a name, such as `english`; rejected if the model does not recognise it. `auto` has the same effect as no language.
             * @example
             */
            language?: string;
            /**
             * @description Languages that may be spoken, if `language` is absent. If the model recognises exactly one of them, that is the language; among several the model detects it. Rejected if it recognises none.
             * @example []
             */
            "languages[]"?: string[];
            /**
             * @description A model id or alias; see `GET /v1/models`.
             * @example whisper-1
             */
            model: string;
            /**
             * @description Text that precedes the audio. Ignored by models that cannot use it.
             * @example
             */
            prompt?: string;
            /**
             * @default json
             * @enum {string}
             */
            response_format: "json" | "text" | "srt" | "verbose_json" | "vtt" | "diarized_json";
            /**
             * @description `priority` and `fast` are queued as REALTIME, the rest as BATCH. The `X-Priority` header wins over it.
             * @default auto
             * @enum {string}
             */
            service_tier: "auto" | "default" | "flex" | "scale" | "priority" | "fast";
            /**
             * @description Server-sent events with `response_format` json, text or diarized_json; ignored with the others. One delta per segment; with diarized_json each is followed by its `transcript.text.segment`.
             * @default false
             */
            stream: boolean;
            /**
             * @description Above 0 it is ignored by models that have no sampling.
             * @default 0
             */
            temperature: number;
            /**
             * @description Only with `response_format=verbose_json`; default `segment`.
             * @example []
             */
            "timestamp_granularities[]"?: ("word" | "segment")[];
        };
        TranslationDto: {
            /**
             * Format: binary
             * @description The audio: flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, up to `server.upload_limit_bytes`. Required unless `file_url` is given.
             */
            file?: string;
            /**
             * Format: uri
             * @description Instead of `file`: http or https, fetched by the worker. Only public addresses and ports 80 and 443, unless `fetch.allow_hosts` says more; at most 5 redirects, `fetch.timeout_ms` and `server.upload_limit_bytes`.
             * @example
             */
            file_url?: string;
            /**
             * @description Written form: `twenty five percent` becomes `25%`, in text and segments; words keep the spoken form. English only. The default is the `itn` of the model in `config/models.yaml` (false).
             * @example
             */
            itn?: boolean;
            /**
             * @description A model id or alias; see `GET /v1/models`.
             * @example whisper-1
             */
            model: string;
            /**
             * @description Text that precedes the audio. Ignored by models that cannot use it.
             * @example
             */
            prompt?: string;
            /**
             * @default json
             * @enum {string}
             */
            response_format: "json" | "text" | "srt" | "verbose_json" | "vtt" | "diarized_json";
            /**
             * @description `priority` and `fast` are queued as REALTIME, the rest as BATCH. The `X-Priority` header wins over it.
             * @default auto
             * @enum {string}
             */
            service_tier: "auto" | "default" | "flex" | "scale" | "priority" | "fast";
            /**
             * @description Above 0 it is ignored by models that have no sampling.
             * @default 0
             */
            temperature: number;
        };
        UpdateKeyDto: {
            /**
             * @description Of its requests that state none; null: that of the model.
             * @enum {string|null}
             */
            default_priority?: "realtime" | "batch" | null;
            /** @description Unix seconds; null: it never expires. */
            expires_at?: number | null;
            /** @description From now on; instead of expires_at. */
            expires_in_days?: number;
            /**
             * @description All of its own limits in place of `limits.*`: requests_per_day, requests_per_minute, tokens_per_minute, audio_seconds_per_minute, concurrent_requests, weight, max_deadline_ms; null: none.
             * @example {
             *       "requests_per_minute": 60
             *     }
             */
            limits?: Record<string, never> | null;
            /** @description Ids or aliases of the only models it may use; null: all. */
            models?: string[] | null;
            /** @example web shop */
            name?: string;
            scopes?: ("inference" | "admin" | "events")[];
        };
        UploadCompleteDto: {
            /** @description Of the whole file; checked when given. */
            md5?: string;
            /**
             * @description In the order in which the parts make the file.
             * @example [
             *       "part_0198a1b2",
             *       "part_0198a1b3"
             *     ]
             */
            part_ids: string[];
        };
        UploadCreateDto: {
            /**
             * @description Exact size of the whole file.
             * @example 100000000
             */
            bytes: number;
            expires_after?: components["schemas"]["ExpiresAfterDto"];
            /** @example requests.jsonl */
            filename: string;
            /** @example application/jsonl */
            mime_type: string;
            /** @enum {string} */
            purpose: "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals";
        };
        UploadDto: {
            bytes: number;
            created_at: number;
            /** @description An hour after its creation. */
            expires_at: number;
            /** @description Once completed. */
            file: components["schemas"]["FileDto"] | null;
            filename: string;
            /** @example upload_0198a1b2c3d47e5f8091a2b3c4d5e6f7 */
            id: string;
            /** @example upload */
            object: string;
            /**
             * @example batch
             * @enum {string}
             */
            purpose: "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals";
            /** @enum {string} */
            status: "pending" | "completed" | "cancelled" | "expired";
        };
        UploadPartCreateDto: {
            /**
             * Format: binary
             * @description At most 64 MiB.
             */
            data: string;
        };
        UploadPartDto: {
            created_at: number;
            /** @example part_0198a1b2c3d47e5f8091a2b3c4d5e6f7 */
            id: string;
            /** @example upload.part */
            object: string;
            upload_id: string;
        };
        UsageDto: {
            /** @description Recognized or synthesized. */
            audio_s: number;
            cancelled: number;
            /** @description Of text to synthesize. */
            characters: number;
            completed: number;
            /** @example 2027-01-31 */
            day?: string;
            /** @description Time of engine calls; calls for several requests are divided equally. */
            device_ms: number;
            failed: number;
            input_tokens: number;
            /** @description Id of the key; empty: requests without keys. */
            key?: string;
            model?: string;
            output_tokens: number;
            /** @description All that ended. */
            requests: number;
            tenant?: string;
        };
        UsageListDto: {
            data: components["schemas"]["UsageDto"][];
            /** @example 2027-01-01 */
            from: string;
            /** @description More than 10,000 groups: ask for fewer days or groups. */
            has_more: boolean;
            /** @enum {string} */
            object: "list";
            /** @example 2027-01-31 */
            to: string;
        };
        UsageTodayDto: {
            audio_s: number;
            input_tokens: number;
            output_tokens: number;
            requests: number;
        };
        VoiceDto: {
            /**
             * @description What `voice` of `POST /v1/audio/speech` may be.
             * @example alloy
             */
            id: string;
            /**
             * @description Id of the model that has it.
             * @example piper-en-joe
             */
            model: string;
            /** @example alloy */
            name: string;
        };
        VoiceListDto: {
            voices: components["schemas"]["VoiceDto"][];
        };
        WaitChangeDto: {
            /** @enum {string} */
            change: "realtime_priority" | "one_more_worker";
            /** @description Milliseconds until it would start then. */
            start_in_ms: components["schemas"]["QuantilesDto"];
        };
        WorkerDto: {
            /** @example 127.0.0.1:41033 */
            address?: string;
            /**
             * @description Its circuit breaker; absent: closed.
             * @enum {string}
             */
            breaker?: "open" | "half_open";
            /** @example cuda:0 */
            device?: string;
            /** @description An operator drained it: nothing is sent to it until it is resumed. */
            drained: boolean;
            /** @description What it last said about itself. */
            health?: Record<string, never>;
            /** @example moonshine-tiny-en-0 */
            id: string;
            last_exit?: components["schemas"]["WorkerExitDto"];
            model: string;
            pid?: number;
            /** @description Why it gets no requests, or one at a time; or what is wrong with its output. */
            problem?: string;
            /** @description Processes started after the first. */
            restarts: number;
            slots: components["schemas"]["WorkerSlotsDto"];
            /** @enum {string} */
            state: "stopped" | "starting" | "ready" | "busy" | "unresponsive" | "suspended" | "draining" | "lost";
            /** @description Live streams it takes besides files. */
            streams: number;
            /** @description Of these, taken now. */
            streams_in_use: number;
        };
        WorkerExitDto: {
            code: number | null;
            /** @description The last lines it wrote, oldest first. */
            lines: string[];
            reason?: string;
            /** @example SIGKILL */
            signal: string | null;
        };
        WorkerListDto: {
            data: components["schemas"]["WorkerDto"][];
        };
        WorkerSlotsDto: {
            /** @description Free for any request; never negative. */
            free: number;
            /** @description Realtime may exceed the total by one group (max_batch). */
            in_use: number;
            total: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    RootController_index: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminAlertsController_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminAuditController_list: {
        parameters: {
            query?: {
                /** @description Id of the last entry that was read. */
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminCatalogueController_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogueDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminCatalogueController_add: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelAdditionDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_addition_running`: A model of the catalogue is being added; one at a time. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminCatalogueController_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelAdditionDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminCatalogueController_report: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportAdditionDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelAdditionDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminCatalogueController_listAdditions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelAdditionListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminDependenciesController_dependencies: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DependenciesDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminDevicesController_find: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DevicesDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminDoctorController_check: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DoctorDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminHistoryController_find: {
        parameters: {
            query?: {
                minutes?: unknown;
                /** @description Canonical id of one model; absent: all. */
                model?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminKeysController_list: {
        parameters: {
            query?: {
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminKeysController_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKeyDto"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedKeyDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `too_many_keys`: The database holds 10,000 live API keys, the most there may be. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminKeysController_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `key_not_found`: No such API key, or it is revoked or expired and cannot be rotated. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `key_is_from_file`: Keys of `auth.keys_file` and `auth.key` are changed there only. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminKeysController_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateKeyDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `key_not_found`: No such API key, or it is revoked or expired and cannot be rotated. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `key_is_from_file`: Keys of `auth.keys_file` and `auth.key` are changed there only. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminKeysController_rotate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateKeyDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedKeyDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `key_not_found`: No such API key, or it is revoked or expired and cannot be rotated. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `key_is_from_file`: Keys of `auth.keys_file` and `auth.key` are changed there only. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminLogsController_logs: {
        parameters: {
            query?: {
                /** @description At least this level; absent: all that is logged. */
                level?: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
                /** @description The newest ones, oldest first. */
                lines?: unknown;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogDto"];
                    /** @example data: {"at":1767225600.1,"level":"info","text":"answered"} */
                    "text/event-stream": string;
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminModelsController_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminModelListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminModelsController_load: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminModelDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `worker_not_supervised`: This gateway did not start the worker or does not load the model, or the worker takes its requests from the shared queue by itself. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminModelsController_unload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminModelDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `worker_not_supervised`: This gateway did not start the worker or does not load the model, or the worker takes its requests from the shared queue by itself. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminModelsController_reload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminModelChangesDto"];
                };
            };
            /** @description `models_file_invalid`: The models file has errors; the message lists them. The models stay as they were. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminQueueController_queue: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminRequestsController_list: {
        parameters: {
            query?: {
                /** @description Error code that it ended with. */
                code?: string;
                limit?: unknown;
                /** @description Milliseconds that it has waited, or longer. */
                min_wait_ms?: number;
                /** @description Canonical model id. */
                model?: string;
                /** @description So many of those that match are left out first. */
                offset?: unknown;
                priority?: "realtime" | "batch";
                /** @description A part of the id. */
                search?: string;
                /** @description Absent: queued and running. Ended ones are kept for a while. */
                state?: "queued" | "running" | "completed" | "failed" | "cancelled";
                /** @description Whose requests. */
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminRequestsController_find: {
        parameters: {
            query?: {
                /** @description Whose request is meant; needed when several tenants have one of that id. */
                tenant?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundRequestDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_not_found`: The request does not exist, or ended too long ago. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_unavailable`: The queue in Redis is full or cannot be reached; the request was not accepted. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminRequestsController_cancel: {
        parameters: {
            query?: {
                /** @description Whose request is meant; needed when several tenants have one of that id. */
                tenant?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancellationDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unknown_url`: No such route. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminRequestsController_explain: {
        parameters: {
            query?: {
                /** @description Whose request is meant; needed when several tenants have one of that id. */
                tenant?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainedRequestDto"];
                };
            };
            /** @description `missing_required_parameter`: A required field is absent or empty. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_not_found`: The request does not exist, or ended too long ago. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_unavailable`: The queue in Redis is full or cannot be reached; the request was not accepted. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminRequestsController_changePriority: {
        parameters: {
            query?: {
                /** @description Whose request is meant; needed when several tenants have one of that id. */
                tenant?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePriorityDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundRequestDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_not_found`: The request does not exist, or ended too long ago. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_not_waiting`: Only a waiting request can be given another priority; this one runs, has ended, or is on its way into its queue. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_unavailable`: The queue in Redis is full or cannot be reached; the request was not accepted. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminRequestsController_cancelMany: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CancelRequestsDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancelledRequestsDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminSessionsController_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LiveSessionListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminSessionsController_end: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedSessionDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unknown_url`: No such route. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminSettingsController_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminStatusController_find: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminUsageController_tenants: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminUsageController_usage: {
        parameters: {
            query?: {
                /** @description First day, UTC; absent: 29 days before the last. */
                from?: string;
                /** @description Out of day, tenant, key, model. */
                group_by?: string;
                /** @description Of this tenant only. */
                tenant?: string;
                /** @description Last day, UTC; absent: today. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminWorkersController_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminWorkersController_drain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `worker_not_found`: No worker has that id; `GET /admin/v1/workers` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `worker_not_supervised`: This gateway did not start the worker or does not load the model, or the worker takes its requests from the shared queue by itself. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_unavailable`: The queue in Redis is full or cannot be reached; the request was not accepted. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminLogsController_worker: {
        parameters: {
            query?: {
                /** @description At least this level; absent: all that is logged. */
                level?: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
                /** @description The newest ones, oldest first. */
                lines?: unknown;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `worker_not_found`: No worker has that id; `GET /admin/v1/workers` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminWorkersController_restart: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `worker_not_found`: No worker has that id; `GET /admin/v1/workers` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `worker_not_supervised`: This gateway did not start the worker or does not load the model, or the worker takes its requests from the shared queue by itself. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_unavailable`: The queue in Redis is full or cannot be reached; the request was not accepted. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    AdminWorkersController_resume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `worker_not_found`: No worker has that id; `GET /admin/v1/workers` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `worker_not_supervised`: This gateway did not start the worker or does not load the model, or the worker takes its requests from the shared queue by itself. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_unavailable`: The queue in Redis is full or cannot be reached; the request was not accepted. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    OllamaController_chat: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OllamaChatDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "model": "qwen3-8b",
                     *       "created_at": "2026-11-27T09:00:00.000Z",
                     *       "done": true,
                     *       "message": {
                     *         "role": "assistant",
                     *         "content": "It sorts."
                     *       },
                     *       "prompt_eval_count": 14,
                     *       "eval_count": 3
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
        };
    };
    OllamaController_embed: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OllamaEmbedDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "model": "bge-m3",
                     *       "embeddings": [
                     *         [
                     *           0.6,
                     *           -0.8
                     *         ]
                     *       ],
                     *       "prompt_eval_count": 4
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
        };
    };
    OllamaController_generate: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OllamaGenerateDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "model": "qwen3-8b",
                     *       "created_at": "2026-11-27T09:00:00.000Z",
                     *       "done": true,
                     *       "response": "It sorts.",
                     *       "prompt_eval_count": 14,
                     *       "eval_count": 3
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
        };
    };
    OllamaModelsController_loaded: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "models": [
                     *         {
                     *           "name": "qwen3-8b",
                     *           "model": "qwen3-8b"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
        };
    };
    OllamaController_pull: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OllamaTransferDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {} */
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
        };
    };
    OllamaController_push: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OllamaTransferDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {} */
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
        };
    };
    OllamaModelsController_show: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OllamaShowDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "details": {
                     *         "format": "gguf"
                     *       },
                     *       "capabilities": [
                     *         "completion",
                     *         "tools"
                     *       ]
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
        };
    };
    OllamaModelsController_tags: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "models": [
                     *         {
                     *           "name": "qwen3-8b",
                     *           "model": "qwen3-8b"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
        };
    };
    OllamaModelsController_version: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": "0.9.0"
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: string;
                    };
                };
            };
        };
    };
    WhisperAsrController_transcribe: {
        parameters: {
            query?: {
                /** @description `false`: the audio is headerless 16 kHz mono s16le, unless it begins as a WAV file does. */
                encode?: boolean;
                /** @description Text that precedes the audio. */
                initial_prompt?: string;
                /** @description A tag or an English name; absent: the model detects it. */
                language?: string;
                /** @description Ours: default `compat.asr_model`. */
                model?: string;
                output?: "txt" | "vtt" | "srt" | "tsv" | "json";
                task?: "transcribe" | "translate";
                /** @description Has no effect. */
                vad_filter?: boolean;
                /** @description With `output=json`. */
                word_timestamps?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["AsrFormDto"];
            };
        };
        responses: {
            /** @description The transcript, in the `output` asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example the quick brown fox */
                    "text/plain": string;
                };
            };
            /**
             * @description `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             *
             *     `too_many_files`: More than one file part; send one file per request.
             *
             *     `empty_file`: The uploaded file has 0 bytes.
             *
             *     `invalid_audio`: The file is not audio this server can decode, or is damaged.
             *
             *     `audio_too_short`: The audio holds no samples.
             *
             *     `file_url_refused`: `file_url` is not allowed: its form, host, port or a redirect of it, or it returns a web page instead of audio.
             *
             *     `file_url_unreachable`: The server of `file_url` cannot be reached, is too slow, or returns a status other than 200.
             *
             *     `invalid_multipart`: The multipart body is malformed or ends early.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_full`: No space for the upload, in the data folder or the temporary folder of a worker; the message says which. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ConsoleController_index: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Open it in a browser. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ConsoleController_view: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                view: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The same page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unknown_url`: No such route. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ConsoleController_detail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: unknown;
                view: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The same page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unknown_url`: No such route. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ConsoleController_asset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unknown_url`: No such route. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ConsoleSessionController_find: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleSessionDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ConsoleSessionController_signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleSessionDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `issuer_unavailable`: The issuer of `auth.oidc_issuer` does not return its keys, so its tokens cannot be checked; API keys work. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ConsoleSessionController_signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    WhisperAsrController_detect: {
        parameters: {
            query?: {
                /** @description `false`: the audio is headerless 16 kHz mono s16le, unless it begins as a WAV file does. */
                encode?: boolean;
                /** @description Ours: default `compat.asr_model`. */
                model?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["AsrFormDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DetectedLanguageDto"];
                };
            };
            /**
             * @description `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             *
             *     `too_many_files`: More than one file part; send one file per request.
             *
             *     `empty_file`: The uploaded file has 0 bytes.
             *
             *     `invalid_audio`: The file is not audio this server can decode, or is damaged.
             *
             *     `audio_too_short`: The audio holds no samples.
             *
             *     `file_url_refused`: `file_url` is not allowed: its form, host, port or a redirect of it, or it returns a web page instead of audio.
             *
             *     `file_url_unreachable`: The server of `file_url` cannot be reached, is too slow, or returns a status other than 200.
             *
             *     `invalid_multipart`: The multipart body is malformed or ends early.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_full`: No space for the upload, in the data folder or the temporary folder of a worker; the message says which. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    TokensController_detokenize: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DetokenizeDto"];
            };
        };
        responses: {
            /** @description The answer, in the form asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "prompt": "A switchyard is",
                     *       "content": "A switchyard is"
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    PollingController_refuse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To a client that polls: the reason why it is not connected. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    HealthController_summary: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description `status` is ok, degraded, unavailable or draining. The rest is for keys with the scope admin. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    "HealthController_live[0]": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event loop turns; nothing else is asked. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    "HealthController_ready[0]": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description At least one model has a ready worker. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description No worker is ready yet, or the server is draining. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "HealthController_live[1]": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event loop turns; nothing else is asked. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    MetricsController_scrape: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    "HealthController_ready[1]": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description At least one model has a ready worker. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description No worker is ready yet, or the server is draining. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    TokensController_tokenize: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenizeDto"];
            };
        };
        responses: {
            /** @description The answer, in the form asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "tokens": [
                     *         1,
                     *         300,
                     *         301
                     *       ],
                     *       "count": 3,
                     *       "max_model_len": 4096
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    SpeechController_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SpeechDto"];
            };
        };
        responses: {
            /** @description The audio, or events with it in base64. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "audio/aac": string;
                    "audio/flac": string;
                    "audio/mpeg": string;
                    "audio/ogg": string;
                    "audio/pcm": string;
                    "audio/wav": string;
                    /**
                     * @example data: {"type":"speech.audio.delta","audio":"AAAAAAAA"}
                     *
                     *     data: {"type":"speech.audio.done","usage":{"input_tokens":0,"output_tokens":0,"total_tokens":0,"seconds":1.5}}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `voice_not_found`: No voice has that name; the message lists the voices.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    "CancellationsController_cancel[2]": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `x-request-id` of the request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancellationDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unknown_url`: No such route. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    TranscriptionsController_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["TranscriptionDto"];
            };
        };
        responses: {
            /** @description The transcript, in the `response_format` asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TranscriptDto"];
                    /**
                     * @example data: {"type":"transcript.text.delta","delta":"the quick brown fox"}
                     *
                     *     data: {"type":"transcript.text.done","text":"the quick brown fox","usage":{"type":"tokens","input_tokens":25,"output_tokens":5,"total_tokens":30,"input_token_details":{"audio_tokens":25,"text_tokens":0}}}
                     *
                     *     data: [DONE]
                     */
                    "text/event-stream": string;
                    /**
                     * @example 1
                     *     00:00:00,000 --> 00:00:02,500
                     *     the quick brown fox jumps over the lazy dog
                     */
                    "text/plain": string;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             *
             *     `too_many_files`: More than one file part; send one file per request.
             *
             *     `empty_file`: The uploaded file has 0 bytes.
             *
             *     `invalid_audio`: The file is not audio this server can decode, or is damaged.
             *
             *     `audio_too_short`: The audio holds no samples.
             *
             *     `file_url_refused`: `file_url` is not allowed: its form, host, port or a redirect of it, or it returns a web page instead of audio.
             *
             *     `file_url_unreachable`: The server of `file_url` cannot be reached, is too slow, or returns a status other than 200.
             *
             *     `invalid_multipart`: The multipart body is malformed or ends early.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_full`: No space for the upload, in the data folder or the temporary folder of a worker; the message says which. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    "CancellationsController_cancel[0]": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `x-request-id` of the request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancellationDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unknown_url`: No such route. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    TranslationsController_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["TranslationDto"];
            };
        };
        responses: {
            /** @description The transcript, in the `response_format` asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TranscriptDto"];
                    /**
                     * @example data: {"type":"transcript.text.delta","delta":"the quick brown fox"}
                     *
                     *     data: {"type":"transcript.text.done","text":"the quick brown fox","usage":{"type":"tokens","input_tokens":25,"output_tokens":5,"total_tokens":30,"input_token_details":{"audio_tokens":25,"text_tokens":0}}}
                     *
                     *     data: [DONE]
                     */
                    "text/event-stream": string;
                    /**
                     * @example 1
                     *     00:00:00,000 --> 00:00:02,500
                     *     the quick brown fox jumps over the lazy dog
                     */
                    "text/plain": string;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             *
             *     `too_many_files`: More than one file part; send one file per request.
             *
             *     `empty_file`: The uploaded file has 0 bytes.
             *
             *     `invalid_audio`: The file is not audio this server can decode, or is damaged.
             *
             *     `audio_too_short`: The audio holds no samples.
             *
             *     `file_url_refused`: `file_url` is not allowed: its form, host, port or a redirect of it, or it returns a web page instead of audio.
             *
             *     `file_url_unreachable`: The server of `file_url` cannot be reached, is too slow, or returns a status other than 200.
             *
             *     `invalid_multipart`: The multipart body is malformed or ends early.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_full`: No space for the upload, in the data folder or the temporary folder of a worker; the message says which. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    "CancellationsController_cancel[1]": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `x-request-id` of the request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancellationDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unknown_url`: No such route. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    VoicesController_list: {
        parameters: {
            query?: {
                /** @description A model id or alias; absent: all speech models. */
                model?: unknown;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VoiceListDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    BatchesController_list: {
        parameters: {
            query?: {
                /** @description Id of the last batch of the page before. */
                after?: string;
                limit?: unknown;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    BatchesController_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key again: the batch made then. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BatchCreateDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             *
             *     `webhook_refused`: The webhook URL is not allowed (its form, host or port), or the server has no secret to sign it with.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_not_found`: The file does not exist; it may be deleted or expired. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    BatchesController_retrieve: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `batch_not_found`: No such batch. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    BatchesController_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletionDto"];
                };
            };
            /** @description `batch_not_finished`: Only a batch that has ended can be deleted or retried. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `batch_not_found`: No such batch. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    BatchesController_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchDto"];
                };
            };
            /** @description `batch_not_cancellable`: The batch has ended or is writing its results. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `batch_not_found`: No such batch. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    BatchesController_retryFailed: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key again: the batch made then. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new batch; `retry_of` names the old one. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchDto"];
                };
            };
            /**
             * @description `batch_not_finished`: Only a batch that has ended can be deleted or retried.
             *
             *     `nothing_to_retry`: The batch has no failed lines to retry.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `batch_not_found`: No such batch.
             *
             *     `file_not_found`: The file does not exist; it may be deleted or expired.
             */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    CompletionsController_chat: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatCompletionDto"];
            };
        };
        responses: {
            /** @description The answer, in the form asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "chatcmpl-1",
                     *       "object": "chat.completion",
                     *       "created": 1763683200,
                     *       "model": "qwen3-8b",
                     *       "choices": [
                     *         {
                     *           "index": 0,
                     *           "message": {
                     *             "role": "assistant",
                     *             "content": "It sorts.",
                     *             "refusal": null
                     *           },
                     *           "logprobs": null,
                     *           "finish_reason": "stop"
                     *         }
                     *       ],
                     *       "usage": {
                     *         "prompt_tokens": 6,
                     *         "completion_tokens": 2,
                     *         "total_tokens": 8,
                     *         "prompt_tokens_details": {
                     *           "cached_tokens": 0
                     *         }
                     *       },
                     *       "service_tier": "default"
                     *     }
                     */
                    "application/json": Record<string, never>;
                    /**
                     * @example data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763683200,"model":"qwen3-8b","choices":[{"index":0,"delta":{"role":"assistant","content":"It sorts"},"logprobs":null,"finish_reason":null}]}
                     *
                     *     data: [DONE]
                     */
                    "text/event-stream": string;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    CompletionsController_complete: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompletionDto"];
            };
        };
        responses: {
            /** @description The answer, in the form asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "chatcmpl-1",
                     *       "object": "text_completion",
                     *       "created": 1763683200,
                     *       "model": "qwen3-8b",
                     *       "choices": [
                     *         {
                     *           "index": 0,
                     *           "text": "It sorts.",
                     *           "logprobs": null,
                     *           "finish_reason": "stop"
                     *         }
                     *       ],
                     *       "usage": {
                     *         "prompt_tokens": 6,
                     *         "completion_tokens": 2,
                     *         "total_tokens": 8,
                     *         "prompt_tokens_details": {
                     *           "cached_tokens": 0
                     *         }
                     *       },
                     *       "service_tier": "default"
                     *     }
                     */
                    "application/json": Record<string, never>;
                    /**
                     * @example data: {"id":"chatcmpl-1","object":"text_completion","created":1763683200,"model":"qwen3-8b","choices":[{"index":0,"text":"It sorts","logprobs":null,"finish_reason":null}]}
                     *
                     *     data: [DONE]
                     */
                    "text/event-stream": string;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    CompletionsController_embed: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmbeddingDto"];
            };
        };
        responses: {
            /** @description The answer, in the form asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "object": "list",
                     *       "data": [
                     *         {
                     *           "object": "embedding",
                     *           "index": 0,
                     *           "embedding": [
                     *             0.6,
                     *             -0.8
                     *           ]
                     *         }
                     *       ],
                     *       "model": "bge-m3",
                     *       "usage": {
                     *         "prompt_tokens": 4,
                     *         "total_tokens": 4
                     *       }
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    FilesController_list: {
        parameters: {
            query?: {
                /** @description Id of the last file of the page before. */
                after?: string;
                limit?: unknown;
                order?: "asc" | "desc";
                purpose?: "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals" | "batch_output";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    FilesController_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["FileCreateDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `too_many_files`: More than one file part; send one file per request.
             *
             *     `empty_file`: The uploaded file has 0 bytes.
             *
             *     `too_many_lines`: An input file of a batch has more lines than `batch.max_lines`.
             *
             *     `invalid_multipart`: The multipart body is malformed or ends early.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_full`: No space for the upload, in the data folder or the temporary folder of a worker; the message says which. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    FilesController_retrieve: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_not_found`: The file does not exist; it may be deleted or expired. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    FilesController_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletionDto"];
                };
            };
            /** @description `file_in_use`: An unfinished batch reads the file; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_not_found`: The file does not exist; it may be deleted or expired. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    FilesController_content: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag`, the SHA-256 of the bytes: 304. */
                "If-None-Match"?: string;
                /** @description `bytes=0-99`, `bytes=100-`, `bytes=-100`; see `If-Range`. */
                Range?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The range; `Content-Range` names it. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Nothing: the bytes are those of `If-None-Match`. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_not_found`: The file does not exist; it may be deleted or expired. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `range_not_satisfiable`: The file has no bytes in that range; see `Content-Range`. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    MessagesController_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageDto"];
            };
        };
        responses: {
            /** @description The answer, in the form asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "msg_1",
                     *       "type": "message",
                     *       "role": "assistant",
                     *       "model": "qwen3-8b",
                     *       "content": [
                     *         {
                     *           "type": "text",
                     *           "text": "It sorts."
                     *         }
                     *       ],
                     *       "stop_reason": "end_turn",
                     *       "stop_sequence": null,
                     *       "usage": {
                     *         "input_tokens": 0,
                     *         "output_tokens": 0,
                     *         "cache_creation_input_tokens": 0,
                     *         "cache_read_input_tokens": 0
                     *       }
                     *     }
                     */
                    "application/json": Record<string, never>;
                    /**
                     * @example event: message_stop
                     *     data: {"type":"message_stop"}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
        };
    };
    MessagesController_count: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageInputDto"];
            };
        };
        responses: {
            /** @description The answer, in the form asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "input_tokens": 14
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error: {
                            code: string;
                            message: string;
                            type: string;
                        };
                        request_id: string;
                        /** @enum {unknown} */
                        type: "error";
                    };
                };
            };
        };
    };
    ModelsController_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelListDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ModelsController_retrieve: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ClientSecretsController_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description `value` is the token, `session` what its sessions begin with. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ClientSecretsController_createOlder: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description `client_secret.value` is the token. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    RequestsController_find: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `x-request-id` of the request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_not_found`: The request does not exist, or ended too long ago. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    "CancellationsController_cancel[3]": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `x-request-id` of the request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancellationDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unknown_url`: No such route. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    StoredContentController_content: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `x-request-id` of a request sent with `Prefer: respond-async`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its answer; of one that failed, its error with the status it has. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_not_found`: The request does not exist, or ended too long ago. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_not_finished`: The request has no answer yet; `GET /v1/requests/{id}` returns its state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    RequestsController_explain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `x-request-id` of the request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainedRequestDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_not_found`: The request does not exist, or ended too long ago. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `shutting_down`: The server is draining; use another replica or retry later. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    RerankController_rerank: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RerankDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RerankingDto"];
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ResponsesController_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResponseDto"];
            };
        };
        responses: {
            /** @description The response, whole or as events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "resp_1",
                     *       "object": "response",
                     *       "created_at": 1763683200,
                     *       "completed_at": 1763683201,
                     *       "status": "completed",
                     *       "incomplete_details": null,
                     *       "error": null,
                     *       "model": "qwen3-8b",
                     *       "output": [
                     *         {
                     *           "type": "message",
                     *           "id": "msg_10000",
                     *           "status": "completed",
                     *           "role": "assistant",
                     *           "content": [
                     *             {
                     *               "type": "output_text",
                     *               "text": "It sorts.",
                     *               "annotations": [],
                     *               "logprobs": []
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "usage": null,
                     *       "store": false,
                     *       "background": false,
                     *       "instructions": null,
                     *       "previous_response_id": null,
                     *       "tools": [],
                     *       "tool_choice": "auto",
                     *       "parallel_tool_calls": true,
                     *       "max_output_tokens": 64,
                     *       "max_tool_calls": null,
                     *       "text": {
                     *         "format": {
                     *           "type": "text"
                     *         }
                     *       },
                     *       "reasoning": null,
                     *       "truncation": "disabled",
                     *       "top_logprobs": 0,
                     *       "metadata": {},
                     *       "user": null,
                     *       "safety_identifier": null,
                     *       "prompt_cache_key": null,
                     *       "temperature": 1,
                     *       "top_p": 1,
                     *       "presence_penalty": 0,
                     *       "frequency_penalty": 0,
                     *       "service_tier": "default"
                     *     }
                     */
                    "application/json": Record<string, never>;
                    /**
                     * @example event: response.created
                     *     data: {"type":"response.created","response":{"id":"resp_1","object":"response","created_at":1763683200,"completed_at":null,"status":"in_progress","incomplete_details":null,"error":null,"model":"qwen3-8b","output":[],"usage":null,"store":false,"background":false,"instructions":null,"previous_response_id":null,"tools":[],"tool_choice":"auto","parallel_tool_calls":true,"max_output_tokens":64,"max_tool_calls":null,"text":{"format":{"type":"text"}},"reasoning":null,"truncation":"disabled","top_logprobs":0,"metadata":{},"user":null,"safety_identifier":null,"prompt_cache_key":null,"temperature":1,"top_p":1,"presence_penalty":0,"frequency_penalty":0,"service_tier":"default"},"sequence_number":0}
                     *
                     *     event: response.in_progress
                     *     data: {"type":"response.in_progress","response":{"id":"resp_1","object":"response","created_at":1763683200,"completed_at":null,"status":"in_progress","incomplete_details":null,"error":null,"model":"qwen3-8b","output":[],"usage":null,"store":false,"background":false,"instructions":null,"previous_response_id":null,"tools":[],"tool_choice":"auto","parallel_tool_calls":true,"max_output_tokens":64,"max_tool_calls":null,"text":{"format":{"type":"text"}},"reasoning":null,"truncation":"disabled","top_logprobs":0,"metadata":{},"user":null,"safety_identifier":null,"prompt_cache_key":null,"temperature":1,"top_p":1,"presence_penalty":0,"frequency_penalty":0,"service_tier":"default"},"sequence_number":1}
                     *
                     *     event: response.output_item.added
                     *     data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_10000","status":"in_progress","role":"assistant","content":[]},"sequence_number":2}
                     *
                     *     event: response.content_part.added
                     *     data: {"type":"response.content_part.added","item_id":"msg_10000","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]},"sequence_number":3}
                     *
                     *     event: response.output_text.delta
                     *     data: {"type":"response.output_text.delta","item_id":"msg_10000","output_index":0,"content_index":0,"delta":"It sorts.","logprobs":[],"sequence_number":4}
                     *
                     *     event: response.output_text.done
                     *     data: {"type":"response.output_text.done","item_id":"msg_10000","output_index":0,"content_index":0,"text":"It sorts.","logprobs":[],"sequence_number":5}
                     *
                     *     event: response.content_part.done
                     *     data: {"type":"response.content_part.done","item_id":"msg_10000","output_index":0,"content_index":0,"part":{"type":"output_text","text":"It sorts.","annotations":[],"logprobs":[]},"sequence_number":6}
                     *
                     *     event: response.output_item.done
                     *     data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_10000","status":"completed","role":"assistant","content":[{"type":"output_text","text":"It sorts.","annotations":[],"logprobs":[]}]},"sequence_number":7}
                     *
                     *     event: response.completed
                     *     data: {"type":"response.completed","response":{"id":"resp_1","object":"response","created_at":1763683200,"completed_at":1763683201,"status":"completed","incomplete_details":null,"error":null,"model":"qwen3-8b","output":[{"type":"message","id":"msg_10000","status":"completed","role":"assistant","content":[{"type":"output_text","text":"It sorts.","annotations":[],"logprobs":[]}]}],"usage":null,"store":false,"background":false,"instructions":null,"previous_response_id":null,"tools":[],"tool_choice":"auto","parallel_tool_calls":true,"max_output_tokens":64,"max_tool_calls":null,"text":{"format":{"type":"text"}},"reasoning":null,"truncation":"disabled","top_logprobs":0,"metadata":{},"user":null,"safety_identifier":null,"prompt_cache_key":null,"temperature":1,"top_p":1,"presence_penalty":0,"frequency_penalty":0,"service_tier":"default"},"sequence_number":8}
                     *
                     *     data: [DONE]
                     */
                    "text/event-stream": string;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `context_length_exceeded`: The prompt and the requested answer exceed the context of the model; the message has the numbers.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `storage_quota_exceeded`: Files or responses of the tenant exceed `files.tenant_quota_bytes` or `responses.tenant_quota_bytes`.
             *
             *     `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part.
             */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    StoredResponsesController_retrieve: {
        parameters: {
            query?: {
                /** @description With `stream`: events with a greater `sequence_number` only. */
                starting_after?: number;
                /** @description Events of a background response, as they come. */
                stream?: unknown;
            };
            header?: never;
            path: {
                /** @description The `id` of a stored response. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response; with `stream` its events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `response_not_found`: The response does not exist, was not stored, or is deleted or expired. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    StoredResponsesController_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `id` of a stored response. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletionDto"];
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `response_not_found`: The response does not exist, was not stored, or is deleted or expired. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    StoredResponsesController_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `id` of a stored response. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response; what was generated before is in it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `response_not_found`: The response does not exist, was not stored, or is deleted or expired. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    StoredResponsesController_inputItems: {
        parameters: {
            query?: {
                /** @description Id of the last item of the page before. */
                after?: string;
                limit?: unknown;
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description The `id` of a stored response. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Items of this response, without those of earlier ones. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_value`: A field has a value outside its range; the message names both. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `response_not_found`: The response does not exist, was not stored, or is deleted or expired. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ResponsesController_compact: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResponseInputDto"];
            };
        };
        responses: {
            /** @description What to send in place of the conversation: its messages but for those of the model, and a summary. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "resp_1",
                     *       "object": "response.compaction",
                     *       "output": [
                     *         {
                     *           "id": "cmp_1",
                     *           "type": "compaction",
                     *           "encrypted_content": "switchyard1.SXQ"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `context_length_exceeded`: The prompt and the requested answer exceed the context of the model; the message has the numbers.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    ResponsesController_countInput: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry under the same key joins the first attempt, or gets its answer. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: 202 at once; `Location` names where the answer will be. */
                Prefer?: "respond-async";
                /** @description Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met. */
                "X-Deadline-Ms"?: number;
                /** @description REALTIME goes before BATCH, which is the default. */
                "X-Priority"?: "realtime" | "batch";
                /** @description Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`. */
                "X-Request-Id"?: string;
                /** @description Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes. */
                "x-slo-ttft-ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResponseInputDto"];
            };
        };
        responses: {
            /** @description Tokens that the input comes to. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "object": "response.input_tokens",
                     *       "input_tokens": 11
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description With `Prefer: respond-async`. */
            202: {
                headers: {
                    /** @description `/v1/requests/{id}` */
                    Location?: string;
                    /** @description Seconds until it is probably answered, if known. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /**
             * @description `invalid_json`: The JSON body cannot be parsed.
             *
             *     `unsupported_task`: The model cannot do this task, such as translation; the message names models that can.
             *
             *     `context_length_exceeded`: The prompt and the requested answer exceed the context of the model; the message has the numbers.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `unsupported_parameter`: The field is valid but this model cannot honour it.
             *
             *     `model_kind_mismatch`: The model exists but is of another kind.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `model_not_found`: No model or alias has that name; `GET /v1/models` lists them. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `duplicate_request_id`: A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `queue_full`: The queue is full; Retry-After says when there should be room, from the forecast. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `request_cancelled`: The caller, a disconnect or an operator cancelled the request. */
            499: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `engine_failed`: The engine failed on this input.
             *
             *     `internal_error`: A bug in Switchyard; the log has the details under the request id.
             *
             *     `worker_crashed`: The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `worker_lost`: Workers were lost with the request or rejected it; the message says which, and why it was not retried.
             *
             *     `queue_timeout`: No slot became free within `queue.timeout_ms`.
             *
             *     `deadline_unreachable`: The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.
             *
             *     `no_worker`: No worker of the model became ready within `queue.timeout_ms`.
             *
             *     `upstream_unavailable`: The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.
             *
             *     `model_unloaded`: An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.
             *
             *     `model_load_failed`: No worker of the model can start; the message says why. It is served as soon as that is repaired.
             *
             *     `shutting_down`: The server is draining; use another replica or retry later.
             */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `deadline_missed`: The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.
             *
             *     `inference_timeout`: The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may take, or text took longer than `inference.generation_*_ms`. Waiting does not count.
             */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    UploadsController_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UploadCreateDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadDto"];
                };
            };
            /**
             * @description `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `invalid_json`: The JSON body cannot be parsed.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    UploadsController_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadDto"];
                };
            };
            /** @description `upload_not_pending`: The upload is completed, cancelled or expired (after 1 hour). */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upload_not_found`: No such upload. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    UploadsController_complete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UploadCompleteDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadDto"];
                };
            };
            /**
             * @description `upload_not_pending`: The upload is completed, cancelled or expired (after 1 hour).
             *
             *     `upload_incomplete`: The parts differ from what was announced: bytes, md5 or part ids; the message says which.
             *
             *     `invalid_value`: A field has a value outside its range; the message names both.
             *
             *     `too_many_lines`: An input file of a batch has more lines than `batch.max_lines`.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upload_not_found`: No such upload. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    UploadsController_addPart: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["UploadPartCreateDto"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadPartDto"];
                };
            };
            /**
             * @description `upload_not_pending`: The upload is completed, cancelled or expired (after 1 hour).
             *
             *     `missing_required_parameter`: A required field is absent or empty.
             *
             *     `too_many_files`: More than one file part; send one file per request.
             *
             *     `invalid_multipart`: The multipart body is malformed or ends early.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `invalid_api_key`: The API key or token is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /**
             * @description `missing_scope`: The API key is valid but lacks the required scope.
             *
             *     `host_not_allowed`: Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.
             *
             *     `origin_not_allowed`: Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `upload_not_found`: No such upload. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `file_too_large`: Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `unsupported_media_type`: The route does not accept this Content-Type, or the body has a Content-Encoding. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `expectation_failed`: The header `Expect` has a value other than `100-continue`. */
            417: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `rate_limit_exceeded`: A limit per minute or of concurrent requests is reached; Retry-After says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `internal_error`: A bug in Switchyard; the log has the details under the request id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `transfer_coding_unsupported`: The header `Transfer-Encoding` has a coding other than `chunked`. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_unavailable`: The database or blob store of files, batches and stored requests does not respond or takes no writes; with an `Idempotency-Key`, a retry is safe. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            /** @description `storage_full`: No space for the upload, in the data folder or the temporary folder of a worker; the message says which. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
}
