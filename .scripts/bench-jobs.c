// The small durable jobs of `pipeline-bench jobs` as a C program does them, for a ratio in one run: PUT 4 KiB, POST, GET
// status, GET 4 KiB into a file, and seven changes of state in SQLite, each on the disk before what follows from it.
//
// bench-jobs URL FOLDER COUNT CONCURRENCY [change|turn]: a transaction for each change, or one for a turn of the loop.
#define _GNU_SOURCE
#include <curl/curl.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { UPLOAD, SUBMIT, POLL, DOWNLOAD, STAGES };

typedef struct {
    CURL *handle;
    struct curl_slist *headers;
    int number, stage, file, isReady;
    size_t length, sent;
    char body[8192];
} Job;

static const char *url, *folder;
static int isByTurn, isOpen;
static long commits;
static char content[4096];
static sqlite3 *database;
static sqlite3_stmt *begin, *commit, *insert, *change, *history;

static void check(int isRight, const char *what) {
    if (isRight) return;
    fprintf(stderr, "%s: %s\n", what, database ? sqlite3_errmsg(database) : "");
    exit(1);
}

static sqlite3_stmt *prepared(const char *text) {
    sqlite3_stmt *statement = NULL;
    check(sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) == SQLITE_OK, text);
    return statement;
}

static void run(sqlite3_stmt *statement) {
    check(sqlite3_step(statement) == SQLITE_DONE, sqlite3_sql(statement));
    sqlite3_reset(statement);
}

static void commitTurn(void) {
    if (!isOpen) return;
    run(commit);
    isOpen = 0;
    commits++;
}

static void record(Job *job, const char *state) {
    if (!isOpen) run(begin);
    isOpen = 1;
    sqlite3_stmt *statements[] = {strcmp(state, "created") ? change : insert, history};
    for (int index = 0; index < 2; index++) {
        sqlite3_bind_int(statements[index], 1, job->number);
        sqlite3_bind_text(statements[index], 2, state, -1, SQLITE_STATIC);
        sqlite3_bind_int64(statements[index], 3, time(NULL));
        run(statements[index]);
    }
    if (!isByTurn) commitTurn();
}

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    Job *job = context;
    if (job->file >= 0) return write(job->file, bytes, count);
    if (job->length + count >= sizeof job->body) return 0;
    memcpy(job->body + job->length, bytes, count);
    job->length += count;
    job->body[job->length] = 0;
    return size * count;
}

static size_t give(char *bytes, size_t size, size_t count, void *context) {
    Job *job = context;
    size_t length = sizeof content - job->sent < size * count ? sizeof content - job->sent : size * count;
    memcpy(bytes, content + job->sent, length);
    job->sent += length;
    return length;
}

// Makes the request of the stage ready; the caller sends it once its state is on the disk.
static void prepare(Job *job) {
    char text[512], field[64];
    curl_easy_reset(job->handle);
    curl_slist_free_all(job->headers);
    job->headers = NULL;
    job->length = job->sent = 0;
    curl_easy_setopt(job->handle, CURLOPT_PRIVATE, job);
    curl_easy_setopt(job->handle, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(job->handle, CURLOPT_WRITEDATA, job);
    switch (job->stage) {
    case UPLOAD:
        snprintf(text, sizeof text, "%s/files/%d", url, job->number);
        job->headers = curl_slist_append(NULL, "Expect:");
        curl_easy_setopt(job->handle, CURLOPT_HTTPHEADER, job->headers);
        curl_easy_setopt(job->handle, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(job->handle, CURLOPT_READFUNCTION, give);
        curl_easy_setopt(job->handle, CURLOPT_READDATA, job);
        curl_easy_setopt(job->handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)sizeof content);
        break;
    case SUBMIT:
        snprintf(text, sizeof text, "%s/jobs", url);
        snprintf(field, sizeof field, "Idempotency-Key: %d", job->number);
        job->headers = curl_slist_append(curl_slist_append(NULL, "Content-Type: application/json"), field);
        curl_easy_setopt(job->handle, CURLOPT_HTTPHEADER, job->headers);
        curl_easy_setopt(job->handle, CURLOPT_COPYPOSTFIELDS, "{\"file\":\"1\"}");
        break;
    case POLL: snprintf(text, sizeof text, "%s/jobs/job", url); break;
    default: {
        snprintf(text, sizeof text, "%s/%d.part", folder, job->number);
        job->file = open(text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        check(job->file >= 0, text);
        snprintf(text, sizeof text, "%s/files/1", url);
    }
    }
    curl_easy_setopt(job->handle, CURLOPT_URL, text);
    job->isReady = 1;
}

static void start(Job *job, int number) {
    job->number = number;
    job->stage = UPLOAD;
    record(job, "created");
    prepare(job);
}

// Takes a response; true once the job has ended.
static int advance(Job *job) {
    long status = 0;
    curl_easy_getinfo(job->handle, CURLINFO_RESPONSE_CODE, &status);
    check(status / 100 == 2, "status");
    switch (job->stage) {
    case UPLOAD:
        record(job, "uploaded");
        record(job, "submitting");
        break;
    case SUBMIT:
        check(strstr(job->body, "\"id\"") != NULL, "no id");
        record(job, "submitted");
        break;
    case POLL:
        check(strstr(job->body, "\"done\"") != NULL, "not done");
        record(job, "computed");
        break;
    default: {
        char part[512], whole[512];
        snprintf(part, sizeof part, "%s/%d.part", folder, job->number);
        snprintf(whole, sizeof whole, "%s/%d.bin", folder, job->number);
        check(fdatasync(job->file) == 0 && close(job->file) == 0 && rename(part, whole) == 0, whole);
        job->file = -1;
        record(job, "downloaded");
        record(job, "ended");
        return 1;
    }
    }
    job->stage++;
    prepare(job);
    return 0;
}

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

static double clockNow(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc < 5) return 64;
    url = argv[1];
    folder = argv[2];
    int count = atoi(argv[3]), concurrency = atoi(argv[4]), begun = 0, ended = 0;
    isByTurn = argc > 5 && !strcmp(argv[5], "turn");
    memset(content, 7, sizeof content);
    char path[512];
    snprintf(path, sizeof path, "%s/jobs.sqlite", folder);
    check(sqlite3_open(path, &database) == SQLITE_OK, path);
    const char *schema =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "CREATE TABLE jobs (number INTEGER PRIMARY KEY, state TEXT, changed INTEGER);"
        "CREATE INDEX byState ON jobs (state); CREATE TABLE history (number INTEGER, state TEXT, time INTEGER);";
    check(sqlite3_exec(database, schema, NULL, NULL, NULL) == SQLITE_OK, "schema");
    begin = prepared("BEGIN IMMEDIATE");
    commit = prepared("COMMIT");
    insert = prepared("INSERT INTO jobs VALUES (?1, ?2, ?3)");
    change = prepared("UPDATE jobs SET state = ?2, changed = ?3 WHERE number = ?1");
    history = prepared("INSERT INTO history VALUES (?1, ?2, ?3)");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    Job *jobs = calloc(concurrency, sizeof *jobs);
    double since = clockNow();
    for (int index = 0; index < concurrency && begun < count; index++) {
        jobs[index].handle = curl_easy_init();
        jobs[index].file = -1;
        start(&jobs[index], begun++);
    }
    while (ended < count) {
        commitTurn();
        for (int index = 0; index < concurrency; index++) {
            if (!jobs[index].isReady) continue;
            jobs[index].isReady = 0;
            curl_multi_add_handle(multi, jobs[index].handle);
        }
        int running = 0, left = 0;
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        int hasNews = 0;
        while ((message = curl_multi_info_read(multi, &left))) {
            Job *job = NULL;
            check(message->data.result == CURLE_OK, curl_easy_strerror(message->data.result));
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&job);
            curl_multi_remove_handle(multi, message->easy_handle);
            hasNews = 1;
            if (!advance(job)) continue;
            ended++;
            if (begun < count) start(job, begun++);
        }
        if (!hasNews) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    commitTurn();
    double wall = clockNow() - since;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%d jobs of a C program (a transaction a %s), %d at a time: %.0f jobs/s, %.3f ms of CPU and %.2f commits a job, "
           "peak %.1f MiB\n",
        count, isByTurn ? "turn" : "change", concurrency, count / wall,
        (seconds(usage.ru_utime) + seconds(usage.ru_stime)) * 1000 / count, (double)commits / count,
        usage.ru_maxrss / 1024.0);
    return 0;
}
