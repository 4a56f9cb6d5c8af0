/* From sampled items to key formats. */
#include "core/draft/infer.h"

#include "core/draft/attribute_clues.h"
#include "core/item/secret_clues.h"
#include "core/map/compile.h"
#include "core/map/table_members.h"
#include "tests/unit/check.h"

/* A table and its records. */
struct scene {
    struct arena arena;
    struct buf text;
    struct findings findings;
    struct map_reader reader;
    struct declared_table *described;
    struct inference *inference;
    struct declared_table *table; /* what was inferred */
};

/* TABLE is the inside of a table, as its description tells it. */
static void begin(struct scene *scene, const char *table)
{
    *scene = (struct scene){0};
    buf_printf(&scene->text, "{\"t\":{\"table\":\"T\",%s,\"paths\":{}}}", table);
    scene->reader = (struct map_reader){.arena = &scene->arena, .findings = &scene->findings};
    CHECK(json_parse(&scene->reader.doc, buf_span(&scene->text), JSON_COMMENTS, NULL));
    CHECK(map_read_tables(&scene->reader, json_root(&scene->reader.doc), &scene->described));
    scene->inference = inference_new(scene->described);
    CHECK(scene->inference != NULL);
}

static void end(struct scene *scene)
{
    inference_destroy(scene->inference);
    json_clean_up(&scene->reader.doc);
    buf_clean_up(&scene->text);
    findings_clean_up(&scene->findings);
    arena_clean_up(&scene->arena);
}

/* A record as typed JSON. */
static void add_typed(struct scene *scene, struct span text)
{
    struct json_doc doc;
    CHECK(json_parse(&doc, text, JSON_STRICT, NULL));
    CHECK(inference_add(scene->inference, json_root(&doc)));
    json_clean_up(&doc);
}

/* "pk=USER#1 sk=PROFILE total:5 …": texts with "=", numbers with ":". */
static void add(struct scene *scene, const char *words)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(buf_clean_up) struct buf copy = {0};
    char *rest = NULL;
    buf_add_text(&copy, words);
    buf_add_char(&text, '{');
    for (char *word = strtok_r(copy.data, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        size_t name = strcspn(word, "=:");
        bool number = word[name] == ':';
        buf_add_text(&text, text.size > 1 ? "," : "");
        json_write_string(&text, span_of(word, name));
        buf_add_text(&text, number ? ":{\"N\":" : ":{\"S\":");
        json_write_string(&text, span_text(word + name + 1));
        buf_add_char(&text, '}');
    }
    buf_add_char(&text, '}');
    add_typed(scene, buf_span(&text));
}

static void write_key(const struct declared_key *key, struct buf *out)
{
    buf_printf(out, " %s ", key->attribute);
    if (!key->by_kind)
        format_write(&key->format, out);
    for (const struct declared_kind_format *each = key->by_kind; each; each = each->next) {
        buf_printf(out, "%s%s=", each == key->by_kind ? "" : "|", each->kind);
        format_write(&each->format, out);
    }
}

static void write_table(const struct declared_table *table, struct buf *out)
{
    for (const struct declared_record *each = table->records; each; each = each->next) {
        buf_printf(out, "%s:", each->name);
        for (size_t i = 0; i < each->key_count; i++)
            write_key(&each->keys[i], out);
        buf_add_char(out, '\n');
    }
    for (const struct declared_index *each = table->indexes; each; each = each->next) {
        buf_printf(out, "%s:", each->name);
        for (size_t i = 0; i < each->partition_count; i++)
            write_key(&each->partition[i], out);
        for (size_t i = 0; i < each->sort_count; i++)
            write_key(&each->sort[i], out);
        buf_add_char(out, '\n');
    }
    for (const struct declared_param *each = table->params; each; each = each->next) {
        buf_printf(out, "{%s}:", each->name);
        for (size_t i = 0; i < each->value_count; i++)
            buf_printf(out, " %s", each->values[i]);
        buf_add_text(out, each->only ? " only\n" : "\n");
    }
    if (table->mtime)
        buf_printf(out, "mtime: %s\n", table->mtime);
    for (size_t i = 0; i < table->secret_count; i++)
        buf_printf(out, "secret: %s\n", table->secrets[i]);
    if (table->separator != '#')
        buf_printf(out, "separator: %c\n", table->separator);
}

static void infer(struct scene *scene)
{
    scene->table = inference_end(scene->inference, &scene->arena);
    CHECK(scene->table != NULL);
    const struct model *model = compile_table(scene->table, &scene->findings);
    if (!model)
        CHECK_FAIL("%s", scene->findings.count ? scene->findings.items[0].text : "no model");
    model_unref(model);
}

/* What is inferred compiles, and is WANT. */
static void check_inferred(struct scene *scene, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    infer(scene);
    write_table(scene->table, &got);
    CHECK_TEXT(buf_text(&got), want);
    end(scene);
}

#define KEYS "\"records\":{\"item\":{\"PK\":\"{PK*}\",\"SK\":\"{SK*}\"}}"
#define GSI1                                                                                       \
    ",\"indexes\":{\"GSI1\":{\"partition\":{\"GSI1PK\":\"{GSI1PK*}\"},"                            \
    "\"sort\":{\"GSI1SK\":\"{GSI1SK*}\"},\"projects\":\"all\"}}"

static void test_nothing_sampled(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    check_inferred(&scene, "item: PK {PK*} SK {SK*}\n");
}

static void test_users_and_their_orders(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=USER#123 SK=PROFILE name=Ann");
    add(&scene, "PK=USER#123 SK=ORDER#2024-001 total:5");
    add(&scene, "PK=USER#123 SK=ORDER#2024-002 total:7");
    check_inferred(&scene, "profile: PK USER#{user_id} SK PROFILE\n"
                           "order: PK USER#{user_id} SK ORDER#{order_id}\n"
                           "other: PK {PK*} SK {SK*}\n");
}

static void test_dates_are_parts(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=CLINIC#CLN-001 SK=APPT#2026-04-16#APT-789 note=x");
    add(&scene, "PK=CLINIC#CLN-001 SK=APPT#2026-04-17#APT-790");
    check_inferred(&scene, "appt: PK CLINIC#{clinic_id} SK APPT#{appt_date}#{appt_id}\n"
                           "other: PK {PK*} SK {SK*}\n");
}

static void test_attributes_name_parts(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=P#shopify#SHOP#kl7 SK=JOB#2026-04-16T09:41:07.318Z#1f3c99 job_id=1f3c99 "
                "created_at=2026-04-16T09:41:07.318Z updated_at=2026-04-16T09:41:07.318Z "
                "shop_id=kl7 platform=shopify");
    add(&scene, "PK=P#ecom#SHOP#kl8 SK=JOB#2026-04-17T09:41:07.318Z#1f3c98 job_id=1f3c98 "
                "created_at=2026-04-17T09:41:07.318Z updated_at=2026-04-18T09:41:07.318Z "
                "shop_id=kl8 platform=ecom");
    check_inferred(&scene, "job: PK P#{platform}#SHOP#{shop_id} SK JOB#{created_at}#{job_id}\n"
                           "other: PK {PK*} SK {SK*}\n"
                           "mtime: updated_at\n");
}

static void test_overloaded_indexes_have_formats_by_kind(void)
{
    struct scene scene;
    begin(&scene, KEYS GSI1);
    add(&scene, "PK=USER#1 SK=PROFILE name=Ann GSI1PK=EMAIL#a@x GSI1SK=USER#1");
    add(&scene, "PK=USER#2 SK=PROFILE name=Bob GSI1PK=EMAIL#b@x GSI1SK=USER#2");
    add(&scene, "PK=USER#1 SK=ORDER#7 total:5 GSI1PK=STATUS#pending GSI1SK=2026-04-01");
    add(&scene, "PK=USER#2 SK=ORDER#8 total:5 GSI1PK=STATUS#sent GSI1SK=2026-04-02");
    add(&scene, "PK=USER#2 SK=CART cart=1");
    check_inferred(&scene,
                   "profile: PK USER#{user_id} SK PROFILE\n"
                   "order: PK USER#{user_id} SK ORDER#{order_id}\n"
                   "cart: PK USER#{user_id} SK CART\n"
                   "other: PK {PK*} SK {SK*}\n"
                   "GSI1: GSI1PK profile=EMAIL#{email}|order=STATUS#{status}|other={GSI1PK*}"
                   " GSI1SK profile=USER#{user_id}|order={date}|other={GSI1SK*}\n");
}

static void test_a_status_is_no_kind(void)
{
    struct scene scene;
    begin(&scene, KEYS ",\"indexes\":{\"I\":{\"partition\":{\"shop\":\"{shop*}\"},"
                       "\"sort\":{\"status_date\":\"{status_date*}\"}}}");
    add(&scene, "PK=SHOP#1 SK=JOB#1 shop=one status=DONE status_date=DONE#2026-01-01");
    add(&scene, "PK=SHOP#1 SK=JOB#2 shop=one status=FAILED status_date=FAILED#2026-01-02");
    check_inferred(&scene, "job: PK SHOP#{shop_id} SK JOB#{job_id}\n"
                           "other: PK {PK*} SK {SK*}\n"
                           "I: shop {shop} status_date {status}#{date}\n");
}

static void test_a_tag_without_the_attribute_is_a_kind(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=kl7a9h55 SK=INDEX#DEFAULT_CONFIGS a=b");
    add(&scene, "PK=kl7a9h55 SK=INDEX#products index_name=products");
    add(&scene, "PK=kl7a9h55 SK=INDEX#shopify-1 index_name=shopify-1");
    add(&scene, "PK=kl7a9h55 SK=INDEX#products#PROFILE#SEARCH#default profile=default");
    add(&scene, "PK=kl7a9h55 SK=INDEX#products#QUERY#gift query=gift");
    add(&scene, "PK=kl7a9h55 SK=INDEX#products#QUERY#a#b query=a#b");
    add(&scene, "PK=kl7a9h55 SK=INDEX#products#AGENTIC_CONFIG model=x");
    check_inferred(&scene,
                   "index: PK {PK} SK INDEX#{index_name}\n"
                   "index_profile_search: PK {PK} SK INDEX#{index_name}#PROFILE#SEARCH#{profile}\n"
                   "index_query: PK {PK} SK INDEX#{index_name}#QUERY#{query*}\n"
                   "index_agentic_config: PK {PK} SK INDEX#{index_name}#AGENTIC_CONFIG\n"
                   "index_default_configs: PK {PK} SK INDEX#DEFAULT_CONFIGS\n"
                   "other: PK {PK*} SK {SK*}\n");
}

static void test_plain_keys_stay_whole(void)
{
    struct scene scene;
    begin(&scene, "\"records\":{\"item\":{\"customerId\":\"{customerId*}\","
                  "\"orderId\":\"{orderId*}\"}}");
    add(&scene, "customerId=C1 orderId=O1 state=NEW");
    add(&scene, "customerId=C1 orderId=PENDING state=NEW");
    check_inferred(&scene, "item: customerId {customerId*} orderId {orderId*}\n");
}

static void test_a_partition_key_alone(void)
{
    struct scene scene;
    begin(&scene, "\"records\":{\"item\":{\"id\":\"{id*}\"}}");
    add(&scene, "id=USER#1 a=b");
    add(&scene, "id=ORDER#1 c=d");
    check_inferred(&scene,
                   "user: id USER#{user_id}\norder: id ORDER#{order_id}\nother: id {id*}\n");
}

static void test_number_keys_stay_numbers(void)
{
    struct scene scene;
    begin(&scene, "\"records\":{\"item\":{\"PK\":\"{PK*}\",\"score\":\"{score}\"}},"
                  "\"types\":{\"score\":\"N\"}");
    add(&scene, "PK=GAME#1 score:42");
    add(&scene, "PK=GAME#2 score:-1.5");
    check_inferred(&scene,
                   "game: PK GAME#{game_id} score {score}\nother: PK {PK*} score {score}\n");
}

static void test_other_separators(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=user|1 SK=order|2026-01-01T10:00:00Z userId=1");
    add(&scene, "PK=user|2 SK=order|2026-01-02T10:00:00Z userId=2");
    check_inferred(&scene, "order: PK user|{userId} SK order|{order_date}\n"
                           "other: PK {PK*} SK {SK*}\nseparator: |\n");
}

static void test_tenants_are_values(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=acme#1 SK=X#1 a=b");
    add(&scene, "PK=acme#2 SK=X#2 a=b");
    add(&scene, "PK=globex#3 SK=X#3 a=b");
    add(&scene, "PK=globex#4 SK=X#4 a=b");
    check_inferred(&scene, "x: PK {PK}#{second_PK} SK X#{second_PK}\nother: PK {PK*} SK {SK*}\n");
}

static void test_the_same_part_in_both_keys(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=USER#1 SK=USER#1 a=b");
    add(&scene, "PK=USER#2 SK=USER#2 a=b");
    add(&scene, "PK=ORG#1 SK=USER#2 c=d");
    add(&scene, "PK=ORG#1 SK=USER#1 c=d");
    check_inferred(&scene, "user: PK USER#{user_id} SK USER#{user_id}\n"
                           "org_user: PK ORG#{org_id} SK USER#{user_id}\n"
                           "other: PK {PK*} SK {SK*}\n");
}

static void test_dates_and_secrets(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=A#1 SK=B#1 created=2026-01-01 expires_at=2027-01-01 ttl:1800000000 "
                "access_token=x max_tokens:5");
    add(&scene, "PK=A#1 SK=B#2 created=2026-01-01 note=AKIAABCDEFGHIJKLMNOP");
    check_inferred(&scene, "b: PK A#{a_id} SK B#{b_id}\nother: PK {PK*} SK {SK*}\n"
                           "mtime: created\nsecret: access_token\nsecret: note\n");
}

static void test_an_attribute_that_is_once_no_date_dates_nothing(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=A#1 SK=B#1 updated_at=2026-01-01");
    add(&scene, "PK=A#1 SK=B#2 updated_at=never");
    check_inferred(&scene, "b: PK A#{a_id} SK B#{b_id}\nother: PK {PK*} SK {SK*}\n");
}

static void test_few_words_over_many_records_are_values(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    for (int i = 0; i < 12; i++) {
        char words[200];
        snprintf(words, sizeof words, "PK=STATE#%s SK=N#%d a=b", i % 3 ? "open" : "shut", i);
        add(&scene, words);
    }
    check_inferred(&scene, "n: PK STATE#{state} SK N#{n_id}\nother: PK {PK*} SK {SK*}\n"
                           "{state}: open shut\n");
}

static void test_no_values_of_a_secret_are_told(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    for (int i = 0; i < 12; i++) {
        char words[200];
        snprintf(words, sizeof words, "PK=TOKEN#%s SK=N#%d a=b", i % 3 ? "hunter" : "letmein", i);
        add(&scene, words);
    }
    check_inferred(&scene, "n: PK TOKEN#{token} SK N#{n_id}\nother: PK {PK*} SK {SK*}\n");
}

#define CRM_KEYS                                                                                   \
    "\"records\":{\"item\":{\"pk\":\"{pk*}\",\"sk\":\"{sk*}\"}},\"indexes\":{\"gs1\":{"            \
    "\"partition\":{"                                                                              \
    "\"gs1pk\":\"{gs1pk*}\"},\"sort\":{\"gs1sk\":\"{gs1sk*}\"},\"projects\":\"all\"}}"

static void test_a_word_of_one_kind_is_one_of_all(void)
{
    struct scene scene;
    begin(&scene, CRM_KEYS);
    add(&scene, "pk=Account#acme sk=Account# name=Acme");
    for (int i = 1; i < 4; i++) {
        char words[200];
        snprintf(words, sizeof words,
                 "pk=Account#acme sk=User#acmeu%d accountId=acme email=u%d@x gs1pk=User#u%d@x "
                 "gs1sk=User#",
                 i, i, i);
        add(&scene, words);
    }
    check_inferred(&scene, "account: pk Account#{accountId} sk Account#\n"
                           "user: pk Account#{accountId} sk User#{User_id}\n"
                           "other: pk {pk*} sk {sk*}\n"
                           "gs1: gs1pk user=User#{email}|other={gs1pk*} gs1sk "
                           "user=User#|other={gs1sk*}\n");
}

static void test_accounts_are_no_users(void)
{
    struct scene scene;
    begin(&scene, CRM_KEYS);
    for (int i = 1; i < 5; i++) {
        char words[200];
        snprintf(words, sizeof words, "pk=Account#a%d sk=Account# name=A accountId=a%d", i, i);
        add(&scene, words);
        snprintf(words, sizeof words, "pk=Account#a%d sk=User#a%du%d name=B accountId=a%d", i, i, i,
                 i);
        add(&scene, words);
    }
    check_inferred(&scene, "account: pk Account#{accountId} sk Account#\n"
                           "user: pk Account#{accountId} sk User#{User_id}\n"
                           "other: pk {pk*} sk {sk*}\n"
                           "gs1: gs1pk {gs1pk*} gs1sk {gs1sk*}\n");
}

static void test_nothing_behind_a_word_is_no_part(void)
{
    struct scene scene;
    begin(&scene, CRM_KEYS);
    add(&scene, "pk=ACCOUNT#1 sk=ACCOUNT# a=b gs1pk=User#7 gs1sk=USER#");
    add(&scene, "pk=ACCOUNT#2 sk=ACCOUNT# a=b");
    add(&scene, "pk=ACCOUNT#2 sk=ORDER#5 c=d");
    add(&scene, "pk=ACCOUNT#2 sk=ORDER# c=d");
    check_inferred(&scene, "account: pk ACCOUNT#{account_id} sk ACCOUNT#\n"
                           "order: pk ACCOUNT#{account_id} sk ORDER#{order_id}\n"
                           "other: pk {pk*} sk {sk*}\n"
                           "gs1: gs1pk account={gs1pk}#{second_gs1pk}|other={gs1pk*} gs1sk "
                           "account=USER#|other={gs1sk*}\n");
}

static void test_what_no_word_tells_apart_is_whole(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=USER#1 SK=Setting#one a=b");
    add(&scene, "PK=USER#1 SK=ORDER#1 c=d");
    add(&scene, "PK=x#1 SK=y z=z");
    check_inferred(&scene, "order: PK USER#{user_id} SK ORDER#{order_id}\n"
                           "other: PK {PK*} SK {SK*}\n");
}

static void test_letters_before_numbers_are_words(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=c#12345 SK=c#12345 name=a");
    add(&scene, "PK=suuid#c342 SK=c#ABC login=x");
    add(&scene, "PK=suuid#d000 SK=c#XYZ login=y");
    add(&scene, "PK=suuid#c342 SK=child#suuid#e54 state=x");
    add(&scene, "PK=suuid#d000 SK=child#suuid#k23 state=y");
    check_inferred(&scene, "c: PK c#{c_id} SK c#{c_id}\n"
                           "suuid_c: PK suuid#{suuid} SK c#{c_id}\n"
                           "child_suuid: PK suuid#{suuid} SK child#suuid#{child_suuid}\n"
                           "other: PK {PK*} SK {SK*}\n");
}

static void test_separators_in_front_and_behind(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=VIN#W1 SK=#META# a=b");
    add(&scene, "PK=VIN#W1 SK=#DATA#7 c=d");
    check_inferred(&scene, "meta: PK VIN#{vin_id} SK #META#\n"
                           "data: PK VIN#{vin_id} SK #DATA#{data_id}\n"
                           "other: PK {PK*} SK {SK*}\n");
}

static void test_times_are_not_cut_at_colons(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=User:A1 SK=2023-04-01T12:00:00.001Z text=x");
    add(&scene, "PK=User:B2 SK=2023-04-01T12:00:01.001Z text=y");
    add(&scene, "PK=Room:M3 SK=meta by=x");
    add(&scene, "PK=Room:A4 SK=meta by=y");
    check_inferred(&scene, "user: PK User:{User_id} SK {date*}\n"
                           "meta: PK Room:{Room_id} SK meta\n"
                           "other: PK {PK*} SK {SK*}\n"
                           "separator: :\n");
}

static void test_a_word_behind_a_word_may_be_constant(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=TENANT#1 SK=ORG#PROFILE a=b");
    add(&scene, "PK=TENANT#2 SK=ORG#PROFILE a=b");
    add(&scene, "PK=TENANT#3 SK=ORG#PROFILE a=b");
    add(&scene, "PK=TENANT#3 SK=STATUS#OPEN c=d");
    add(&scene, "PK=TENANT#4 SK=STATUS#OPEN c=d");
    add(&scene, "PK=TENANT#5 SK=STATUS#OPEN c=d");
    add(&scene, "PK=TENANT#6 SK=STATUS#DONE c=d");
    check_inferred(&scene, "org_profile: PK TENANT#{tenant_id} SK ORG#PROFILE\n"
                           "status: PK TENANT#{tenant_id} SK STATUS#{status}\n"
                           "other: PK {PK*} SK {SK*}\n");
}

static void test_one_value_with_a_slash_makes_no_separator(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=one SK=North/West a=b");
    for (int i = 0; i < 5; i++)
        add(&scene, "PK=two SK=7 a=b");
    infer(&scene);
    CHECK(scene.table->separator == '#' && scene.table->records == scene.described->records);
    end(&scene);
}

static void test_electrodb_says_its_entities(void)
{
    struct scene scene;
    begin(&scene, KEYS GSI1);
    add(&scene,
        "__edb_e__=office PK=$hr#country_usa SK=$places#office_1#city_a.b#zip_1 country=USA "
        "city=a.b zip=1 GSI1PK=$hr#office_x GSI1SK=$staff#office_1 office=X");
    add(&scene, "__edb_e__=office PK=$hr#country_uk SK=$places#office_1#city_c/d#zip_2 country=UK "
                "city=C/D zip=2 GSI1PK=$hr#office_y GSI1SK=$staff#office_1 office=Y");
    add(&scene, "__edb_e__=task __edb_v__=1 PK=$hr#task_7 SK=$task_1 task=7");
    check_inferred(&scene, "office: PK $hr#country_{country:lower} SK "
                           "$places#office_1#city_{city:lower}#zip_{zip:lower}\n"
                           "task: PK $hr#task_{task:lower} SK $task_1\n"
                           "other: PK {PK*} SK {SK*}\n"
                           "GSI1: GSI1PK office=$hr#office_{office:lower}|other={GSI1PK*} GSI1SK "
                           "office=$staff#office_1|other={GSI1SK*}\n");
}

static void test_keys_without_words(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=user_1 SK=profile a=b");
    add(&scene, "PK=user_1 SK=order_11 c=d");
    infer(&scene);
    CHECK(scene.table->records == scene.described->records);
    CHECK_HAS(scene.table->note, "No words were found in the keys of 2 sampled items, such as");
    end(&scene);
}

static void test_notes_say_what_the_records_of_the_kind_say(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=ORG#acme1 SK=ORG#acme1 org=acme1");
    add(&scene, "PK=ORG#acme2 SK=ORG#acme2 org=acme2");
    add(&scene, "PK=ORG#acme2 SK=NOTE#7 text=x");
    infer(&scene);
    CHECK_TEXT(scene.table->records->note,
               "2 of 3 sampled items. The items have attributes with the values of {org}.");
    CHECK_TEXT(scene.table->records->next->note, "1 of 3 sampled items.");
    end(&scene);
}

static void test_notes_say_on_what_it_rests(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add(&scene, "PK=USER#1 SK=PROFILE updated_at=2026-01-01");
    add(&scene, "PK=USER#2 SK=PROFILE");
    add(&scene, "PK=?? SK=x");
    infer(&scene);
    CHECK_TEXT(scene.table->records->note, "2 of 3 sampled items.");
    CHECK_TEXT(scene.table->records->next->note,
               "All items that fit no kind above, by their whole keys: 1 of 3 sampled items.");
    CHECK_HAS(scene.table->note, "\"mtime\": updated_at is a date in all of the 1 sampled item "
                                 "that has it.");
    end(&scene);
}

static void test_what_is_no_record_is_passed_over(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    add_typed(&scene, SPAN_LITERAL("{\"PK\":5}"));
    add(&scene, "PK=USER#1 SK=PROFILE");
    check_inferred(&scene, "profile: PK USER#{user_id} SK PROFILE\nother: PK {PK*} SK {SK*}\n");
}

static void test_more_records_than_are_looked_at_are_counted(void)
{
    struct scene scene;
    begin(&scene, KEYS);
    for (int i = 0; i < INFER_MOST_ITEMS + 5; i++)
        add(&scene, "PK=USER#1 SK=PROFILE");
    CHECK_INT(inference_count(scene.inference), INFER_MOST_ITEMS + 5);
    infer(&scene);
    CHECK_TEXT(scene.table->records->note, "2000 of 2000 sampled items.");
    CHECK_HAS(scene.table->note, "(of 2005 that were read)");
    end(&scene);
}

/* The tables of the examples. */

static void add_file(struct scene *scene, const char *table)
{
    char name[512], line[16384];
    const char *folder = getenv("DDBFS_TEST_DATA");
    snprintf(name, sizeof name, "%s/../docs/examples/ecommerce.%s.jsonl", folder ? folder : "tests",
             table);
    FILE *file = fopen(name, "re");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file)) {
        struct json_doc doc;
        CHECK(json_parse(&doc, span_text(line), JSON_STRICT, NULL));
        CHECK(inference_add(scene->inference, json_member(json_root(&doc), "Item")));
        json_clean_up(&doc);
    }
    fclose(file);
}

#define SMALL_KEYS "\"records\":{\"item\":{\"pk\":\"{pk*}\",\"sk\":\"{sk*}\"}}"

static void test_the_jobs_of_the_example(void)
{
    struct scene scene;
    begin(&scene,
          SMALL_KEYS ",\"indexes\":{\"GSI_JobLookup_v2\":{\"partition\":{\"job_id\":\"{job_id*}\"},"
                     "\"sort\":{\"created_at\":\"{created_at*}\"}},"
                     "\"GSI_JobsByStatus_v2\":{\"partition\":{\"shop_id\":\"{shop_id*}\"},"
                     "\"sort\":{\"status_created_at\":\"{status_created_at*}\"}}}");
    add_file(&scene, "EcomIndexerJobsTable");
    check_inferred(
        &scene, "job: pk PLATFORM#{platform}#SHOP#{shop_id} sk JOB#{created_at}#{job_id}\n"
                "other: pk {pk*} sk {sk*}\n"
                "GSI_JobLookup_v2: job_id {job_id} created_at {created_at}\n"
                "GSI_JobsByStatus_v2: shop_id {shop_id} status_created_at {status}#{created_at}\n"
                "{status}: COMPLETED FAILED IN_PROGRESS PENDING\n"
                "{platform}: ecom shopify\n"
                "mtime: updated_at\n");
}

static void test_the_settings_of_the_example(void)
{
    struct scene scene;
    begin(&scene, SMALL_KEYS
          ",\"indexes\":{\"GSI_IndexRootsByName\":{\"partition\":{\"pk\":\"{pk*}\"},"
          "\"sort\":{\"index_name\":\"{index_name*}\"}},"
          "\"GSI_ShopifyDomain\":{\"partition\":{\"shopify_domain\":\"{shopify_domain*}\"},"
          "\"sort\":{\"sk\":\"{sk*}\"}}}");
    add_file(&scene, "EcomIndexSettingsTable");
    check_inferred(
        &scene, "index: pk {pk} sk INDEX#{index_name}\n"
                "index_profile_search: pk {pk} sk INDEX#{index_name}#PROFILE#SEARCH#{profile}\n"
                "index_query: pk {pk} sk INDEX#{index_name}#QUERY#{query}\n"
                "index_agentic_config: pk {pk} sk INDEX#{index_name}#AGENTIC_CONFIG\n"
                "index_default_configs: pk {pk} sk INDEX#DEFAULT_CONFIGS\n"
                "other: pk {pk*} sk {sk*}\n"
                "GSI_IndexRootsByName: pk {pk*} index_name index={index_name}|other={index_name*}\n"
                "GSI_ShopifyDomain: shopify_domain index={shopify_domain}|other={shopify_domain*} "
                "sk {sk*}\n"
                "mtime: updated_at\n");
}

static void test_the_shops_of_the_example(void)
{
    struct scene scene;
    begin(&scene, SMALL_KEYS ",\"indexes\":{\"GSI_SystemAccountId\":{\"partition\":{"
                             "\"system_account_id\":\"{system_account_id*}\"},"
                             "\"sort\":{\"sk\":\"{sk*}\"}}}");
    add_file(&scene, "ShopifyEntitiesTable");
    check_inferred(&scene, "settings: pk SHOP#{shop_domain} sk SETTINGS\n"
                           "api_key: pk SHOP#{shop_domain} sk API_KEY\n"
                           "user: pk SHOP#{shop_domain} sk USER#{user_id}\n"
                           "other: pk {pk*} sk {sk*}\n"
                           "GSI_SystemAccountId: system_account_id "
                           "settings={system_account_id}|other={system_account_id*} sk {sk*}\n"
                           "mtime: last_updated\n"
                           "secret: api_key\n"
                           "secret: access_token\n");
}

/* Random designs: every sampled item is of one kind, and its keys are rebuilt from its parts. */

static uint64_t state;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static const char *pick(const char *const *words, unsigned count)
{
    return words[draw(count)];
}

/* A piece of a key: a tag, a word, an id, a date, or whatever else stands in keys. */
static void write_piece(struct buf *out, int kind)
{
    static const char *const tags[] = {"USER", "ORDER", "API_KEY", "ITEM", "A", "V2"};
    static const char *const words[] = {"user", "order", "Profile", "acme", "open", "x y"};
    static const char *const odd[] = {"", "{a}", "a:b", "a/b", "%41", "\xc3\xa9", "..", "*", "##"};
    switch (kind) {
    case 0:
        buf_add_text(out, pick(tags, 6));
        return;
    case 1:
        buf_add_text(out, pick(words, 6));
        return;
    case 2:
        buf_printf(out, "2026-0%u-1%u", 1 + draw(9), draw(10));
        return;
    case 3:
        buf_add_text(out, pick(odd, 9));
        return;
    default:
        buf_printf(out, "%x", draw(1000));
        return;
    }
}

struct design {
    int pieces[3][2][6]; /* of three kinds, two keys: what each piece is */
    unsigned counts[3][2];
    char separator;
};

static void write_design_key(const struct design *design, unsigned kind, unsigned key,
                             struct buf *out)
{
    for (unsigned i = 0; i < design->counts[kind][key]; i++) {
        if (i > 0)
            buf_add_char(out, design->separator);
        write_piece(out, design->pieces[kind][key][i]);
    }
}

static void add_random(struct scene *scene, const struct design *design)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, pk = {0}, sk = {0};
    unsigned kind = draw(3);
    write_design_key(design, kind, 0, &pk);
    write_design_key(design, kind, 1, &sk);
    buf_add_text(&text, "{\"PK\":{\"S\":");
    json_write_string(&text, buf_span(&pk));
    buf_add_text(&text, "},\"SK\":{\"S\":");
    json_write_string(&text, buf_span(&sk));
    buf_add_text(&text, "}");
    if (kind > 0) {
        buf_add_text(&text, ",\"GSI1PK\":{\"S\":");
        json_write_string(&text, draw(2) ? buf_span(&sk) : buf_span(&pk));
        buf_add_text(&text, "},\"GSI1SK\":{\"S\":");
        json_write_string(&text, buf_span(&pk));
        buf_add_text(&text, "}");
    }
    if (draw(2)) {
        struct span part = buf_span(&sk);
        const char *at = memchr(part.data ? part.data : "", design->separator, part.size);
        buf_add_text(&text, ",\"said\":{\"S\":");
        json_write_string(&text, at ? span_from(part, (size_t)(at - part.data) + 1) : part);
        buf_add_text(&text, "}");
    }
    buf_printf(&text, ",\"of%u\":{\"N\":\"%u\"}}", kind, draw(5));
    add_typed(scene, buf_span(&text));
}

static void check_rebuilt(const struct scene *scene, const struct declared_record *record,
                          const struct span *keys)
{
    for (size_t i = 0; i < 2; i++) {
        struct bindings parts = {0};
        CLEAN_UP(buf_clean_up) struct buf rebuilt = {0};
        CHECK(format_match_key(&record->keys[i].format, keys[i], scene->table->separator, &parts));
        CHECK(format_expand(&record->keys[i].format, &parts, &rebuilt));
        CHECK_SPAN(buf_span(&rebuilt), keys[i]);
    }
}

/* As records are told apart when they are read: the kind that says most. */
static void check_is_of_one_kind(const struct scene *scene, const struct span *keys)
{
    const struct declared_record *best = NULL;
    size_t most = 0, as_good = 0;
    for (const struct declared_record *each = scene->table->records; each; each = each->next) {
        struct bindings parts = {0};
        size_t bytes = format_literal_bytes(&each->keys[0].format) +
                       format_literal_bytes(&each->keys[1].format);
        if (!format_match_key(&each->keys[0].format, keys[0], scene->table->separator, &parts) ||
            !format_match_key(&each->keys[1].format, keys[1], scene->table->separator, &parts) ||
            !bindings_agree(&parts, &parts) || (best && bytes < most))
            continue;
        as_good = best && bytes == most ? as_good + 1 : 1;
        best = each;
        most = bytes;
    }
    CHECK(best != NULL);
    CHECK_INT(as_good, 1);
    check_rebuilt(scene, best, keys);
}

enum { RECORDS_OF_A_DESIGN = 40 };

static void check_design(unsigned seed)
{
    static const char separators[] = "##|:/";
    struct scene scene;
    struct design design;
    uint64_t before;
    state = seed * 2654435761u + 1;
    design.separator = separators[draw(5)];
    for (unsigned kind = 0; kind < 3; kind++)
        for (unsigned key = 0; key < 2; key++) {
            design.counts[kind][key] = 1 + draw(6);
            for (unsigned i = 0; i < 6; i++)
                design.pieces[kind][key][i] = (int)draw(5);
        }
    begin(&scene, KEYS GSI1);
    before = state;
    for (unsigned i = 0; i < RECORDS_OF_A_DESIGN; i++)
        add_random(&scene, &design);
    infer(&scene);
    state = before; /* the same records again */
    for (unsigned i = 0; i < RECORDS_OF_A_DESIGN; i++) {
        CLEAN_UP(buf_clean_up) struct buf pk = {0}, sk = {0};
        unsigned kind = draw(3);
        write_design_key(&design, kind, 0, &pk);
        write_design_key(&design, kind, 1, &sk);
        const struct span keys[] = {span_of(buf_text(&pk), pk.size),
                                    span_of(buf_text(&sk), sk.size)};
        check_is_of_one_kind(&scene, keys);
        if (kind > 0)
            draw(2);
        draw(2);
        draw(5);
    }
    end(&scene);
}

static void test_random_designs(void)
{
    for (unsigned seed = 0; seed < check_cases(2000); seed++)
        check_design(seed);
}

/* Clues. */

static void test_tags_and_words(void)
{
    CHECK(clue_is_tag(span_text("USER")) && clue_is_tag(span_text("API_KEY")));
    CHECK(clue_is_tag(span_text("OAUTH2")) && clue_is_tag(span_text("A-B")));
    CHECK(!clue_is_tag(span_text("CLN-001")) && !clue_is_tag(span_text("User")));
    CHECK(!clue_is_tag(span_text("")) && !clue_is_tag(span_text("1A")));
    CHECK(!clue_is_tag(span_text("ABC123")) && !clue_is_tag(span_text("A_")));
    CHECK(clue_is_word(span_text("user")) && clue_is_word(span_text("in-progress")));
    CHECK(!clue_is_word(span_text("u1")) && !clue_is_word(span_text("a")));
}

static void test_dates(void)
{
    CHECK(clue_is_date(span_text("2026-04-16")) && clue_is_date(span_text("2026-04")));
    CHECK(clue_is_date(span_text("2026-04-16T09:41:07.318Z")));
    CHECK(!clue_is_date(span_text("2024-001")) && !clue_is_date(span_text("2026")));
    CHECK(!clue_is_date(span_text("APT-2026-04")) && !clue_is_date(span_text("2026-04-16x")));
    static const char *const dates[] = {"created_at", "createdAt",  "date",      "order_date",
                                        "orderDate",  "date_2",     "timestamp", "postedOn",
                                        "day",        "updated_at", "createdat"};
    static const char *const others[] = {"version",   "format",     "region", "status",
                                         "at",        "expires_at", "on",     "sentiment",
                                         "candidate", "rank_no"};
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++)
        if (!clue_names_a_date(span_text(dates[i])))
            CHECK_FAIL("%s", dates[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (clue_names_a_date(span_text(others[i])))
            CHECK_FAIL("%s", others[i]);
}

static void test_names_of_keys_that_say_nothing(void)
{
    CHECK(clue_is_generic_key(span_text("PK")) && clue_is_generic_key(span_text("GSI1PK")));
    CHECK(clue_is_generic_key(span_text("gsi2-sort-key")) && clue_is_generic_key(span_text("sk2")));
    CHECK(clue_is_generic_key(span_text("pk1")) && clue_is_generic_key(span_text("LSI1SK")));
    CHECK(!clue_is_generic_key(span_text("status")) && !clue_is_generic_key(span_text("task")));
    CHECK(!clue_is_generic_key(span_text("index_name")) &&
          !clue_is_generic_key(span_text("shop_id")));
}

static void test_names_of_secrets(void)
{
    static const char *const secrets[] = {"access_token",
                                          "apiKey",
                                          "Password",
                                          "refresh_tokens",
                                          "access_tokens",
                                          "refreshTokens",
                                          "refreshtokens",
                                          "secretNameAndPassword",
                                          "secretnameandpassword",
                                          "API_KEYS",
                                          "apikeys",
                                          "APIKey",
                                          "user-passwords",
                                          "passwordResetToken",
                                          "tokenIdSecret",
                                          "tokens",
                                          "dbPwd",
                                          "stripe.secret.key",
                                          "oauth2token",
                                          "OAuthClientSecrets",
                                          "privateKeys",
                                          "tokenHash",
                                          "credentials",
                                          "idToken",
                                          "sessionJwt",
                                          "typeOfTokenAndToken"};
    static const char *const others[] = {"max_tokens",
                                         "maxTokens",
                                         "key",
                                         "tokenCount",
                                         "token_type",
                                         "tokenTypes",
                                         "nextToken",
                                         "next_page_token",
                                         "secretArn",
                                         "secretName",
                                         "secret_names",
                                         "passwordChangedAt",
                                         "password_updated_at",
                                         "passwordExpiry",
                                         "tokenExpiresAt",
                                         "token_ids",
                                         "accessKeyId",
                                         "secretary",
                                         "secretariats",
                                         "tokenized",
                                         "passwordless",
                                         "keys",
                                         "pwdless"};
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        if (!secret_clue_in_name(span_text(secrets[i])))
            CHECK_FAIL("%s is called no secret", secrets[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (secret_clue_in_name(span_text(others[i])))
            CHECK_FAIL("%s is called a secret", others[i]);
    CHECK(secret_clue_in_value(span_text("-----BEGIN RSA PRIVATE KEY-----\nMII")));
    CHECK(!secret_clue_in_value(span_text("-----BEGIN CERTIFICATE-----")));
    CHECK(!secret_clue_in_value(span_text("AKIA")));
}

static const struct check_test tests[] = {
    {"nothing_sampled", test_nothing_sampled},
    {"users_and_their_orders", test_users_and_their_orders},
    {"dates_are_parts", test_dates_are_parts},
    {"attributes_name_parts", test_attributes_name_parts},
    {"overloaded_indexes_have_formats_by_kind", test_overloaded_indexes_have_formats_by_kind},
    {"a_status_is_no_kind", test_a_status_is_no_kind},
    {"a_tag_without_the_attribute_is_a_kind", test_a_tag_without_the_attribute_is_a_kind},
    {"plain_keys_stay_whole", test_plain_keys_stay_whole},
    {"a_partition_key_alone", test_a_partition_key_alone},
    {"number_keys_stay_numbers", test_number_keys_stay_numbers},
    {"other_separators", test_other_separators},
    {"tenants_are_values", test_tenants_are_values},
    {"the_same_part_in_both_keys", test_the_same_part_in_both_keys},
    {"dates_and_secrets", test_dates_and_secrets},
    {"an_attribute_that_is_once_no_date_dates_nothing",
     test_an_attribute_that_is_once_no_date_dates_nothing},
    {"few_words_over_many_records_are_values", test_few_words_over_many_records_are_values},
    {"no_values_of_a_secret_are_told", test_no_values_of_a_secret_are_told},
    {"a_word_of_one_kind_is_one_of_all", test_a_word_of_one_kind_is_one_of_all},
    {"accounts_are_no_users", test_accounts_are_no_users},
    {"nothing_behind_a_word_is_no_part", test_nothing_behind_a_word_is_no_part},
    {"what_no_word_tells_apart_is_whole", test_what_no_word_tells_apart_is_whole},
    {"letters_before_numbers_are_words", test_letters_before_numbers_are_words},
    {"separators_in_front_and_behind", test_separators_in_front_and_behind},
    {"times_are_not_cut_at_colons", test_times_are_not_cut_at_colons},
    {"a_word_behind_a_word_may_be_constant", test_a_word_behind_a_word_may_be_constant},
    {"one_value_with_a_slash_makes_no_separator", test_one_value_with_a_slash_makes_no_separator},
    {"electrodb_says_its_entities", test_electrodb_says_its_entities},
    {"keys_without_words", test_keys_without_words},
    {"notes_say_what_the_records_of_the_kind_say", test_notes_say_what_the_records_of_the_kind_say},
    {"notes_say_on_what_it_rests", test_notes_say_on_what_it_rests},
    {"what_is_no_record_is_passed_over", test_what_is_no_record_is_passed_over},
    {"more_records_than_are_looked_at_are_counted",
     test_more_records_than_are_looked_at_are_counted},
    {"the_jobs_of_the_example", test_the_jobs_of_the_example},
    {"the_settings_of_the_example", test_the_settings_of_the_example},
    {"the_shops_of_the_example", test_the_shops_of_the_example},
    {"random_designs", test_random_designs},
    {"tags_and_words", test_tags_and_words},
    {"dates", test_dates},
    {"names_of_keys_that_say_nothing", test_names_of_keys_that_say_nothing},
    {"names_of_secrets", test_names_of_secrets},
};

CHECK_MAIN(tests)
